// The dashboard of record-server. Everything from records is set as text, never as HTML.
"use strict";

const shownAtOnce = 300;
const longestText = 2000;
const view = { server: null, user: null, zone: null, record: null, shown: shownAtOnce };
// By user and zone: its records by name, and the token behind what was read.
const zones = new Map();
let lastEvent = 0;

const at = (id) => document.getElementById(id);

function element(name, text, className) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
}

function button(text, className, action) {
    const made = element("button", text, "plain " + (className || ""));
    made.type = "button";
    made.addEventListener("click", action);
    return made;
}

async function call(path, body, method = "POST") {
    const request = { method, credentials: "same-origin", cache: "no-store" };
    if (body !== undefined) {
        request.body = JSON.stringify(body);
        request.headers = { "Content-Type": "application/json" };
    }
    const response = await fetch(path, request);
    if (response.status === 401) at("sign-in").hidden = false;
    const text = await response.text();
    const json = text ? JSON.parse(text) : null;
    if (!response.ok) throw new Error((json && (json.reason || json.error)) || "HTTP " + response.status);
    return json;
}

const ask = (user, operation, body) =>
    call("/dashboard/database/" + encodeURIComponent(user) + "/" + operation, body || {});

// MARK: Users and zones

function showUsers() {
    at("users").replaceChildren(...view.server.users.map((user) => {
        const item = element("li");
        item.append(button(user, user === view.user ? "chosen" : "", () => choose(user)));
        return item;
    }));
}

async function choose(user) {
    Object.assign(view, { user, zone: null, record: null, shown: shownAtOnce });
    showUsers();
    await readZones();
}

async function readZones() {
    const user = view.user;
    const found = (await ask(user, "zones/list")).zones || [];
    const subscriptions = (await ask(user, "subscriptions/list")).subscriptions || [];
    if (user !== view.user) return;
    const names = found.map((zone) => zone.zoneID.zoneName);
    if (!names.includes(view.zone)) {
        view.zone = names.find((name) => name !== "_defaultZone") || names[0] || null;
        view.record = null;
    }
    at("zones").replaceChildren(...names.map((name) => {
        const item = element("li");
        item.append(button(name, name === view.zone ? "chosen" : "", () => {
            Object.assign(view, { zone: name, record: null, shown: shownAtOnce });
            readZones();
        }));
        return item;
    }));
    at("subscriptions").replaceChildren(...subscriptions.map((subscription) => {
        const zone = subscription.zoneID ? ", " + subscription.zoneID.zoneName : "";
        return element("li", subscription.subscriptionID + " (" + subscription.subscriptionType + zone + ")");
    }));
    await readRecords();
}

// MARK: Records

function zone(user, name) {
    const key = JSON.stringify([user, name]);
    if (!zones.has(key)) zones.set(key, { records: new Map(), token: undefined, reading: null, again: false });
    return zones.get(key);
}

// Reads what has changed in the chosen zone; one reading at a time for each zone.
async function readRecords() {
    const { user, zone: name } = view;
    showRecords();
    if (!name || name === "_defaultZone") return;
    const place = zone(user, name);
    if (place.reading) {
        place.again = true;
        return place.reading;
    }
    place.reading = readPages(user, name, place);
    try {
        await place.reading;
    } finally {
        place.reading = null;
    }
    if (place.again) {
        place.again = false;
        await readRecords();
    }
}

async function readPages(user, name, place) {
    for (;;) {
        const request = { zoneID: { zoneName: name }, resultsLimit: 200 };
        if (place.token) request.syncToken = place.token;
        const page = ((await ask(user, "changes/zone", { zones: [request] })).zones || [])[0] || {};
        if (page.serverErrorCode) {
            // The zone is gone, or the token is one of a lost history.
            const wasNew = place.token === undefined;
            Object.assign(place, { records: new Map(), token: undefined });
            if (wasNew || page.serverErrorCode === "ZONE_NOT_FOUND") break;
            continue;
        }
        for (const record of page.records || []) {
            // The last one that was changed comes last.
            place.records.delete(record.recordName);
            place.records.set(record.recordName, record);
        }
        place.token = page.syncToken;
        if (user === view.user && name === view.zone) showRecords();
        if (!page.moreComing) break;
    }
    if (user === view.user && name === view.zone) showRecords();
}

function isWanted(record, text) {
    return !text || JSON.stringify(record).toLowerCase().includes(text);
}

const stamp = (part) => part && part.timestamp ? new Date(part.timestamp).toISOString() : "";

function showRecords() {
    const records = view.zone ? [...zone(view.user, view.zone).records.values()] : [];
    const there = records.filter((record) => !record.deleted).length;
    at("count").textContent = view.zone
        ? there + (records.length > there ? ", " + (records.length - there) + " deleted" : "") : "";
    const newest = records.length > 0 ? ", " + records[records.length - 1].recordName : "";
    document.title = (view.zone ? view.zone + ": " + there + newest : "Record server");
    const text = at("filter").value.trim().toLowerCase();
    const rows = [];
    let wanted = 0;
    // The newest first.
    for (let index = records.length - 1; index >= 0; index -= 1) {
        const record = records[index];
        if (!isWanted(record, text)) continue;
        wanted += 1;
        if (wanted > view.shown) continue;
        const row = element("tr", undefined, "choice" + (record.deleted ? " deleted" : ""));
        row.tabIndex = 0;
        if (record.recordName === view.record) row.classList.add("chosen");
        for (const value of [record.recordName, record.recordType, record.recordChangeTag, stamp(record.modified)]) {
            row.append(element("td", value || ""));
        }
        const show = () => {
            view.record = record.recordName;
            showRecords();
        };
        row.addEventListener("click", show);
        row.addEventListener("keydown", (event) => { if (event.key === "Enter") show(); });
        rows.push(row);
    }
    at("records").tBodies[0].replaceChildren(...rows);
    at("rest").replaceChildren();
    if (wanted > view.shown) {
        at("rest").append(button((wanted - view.shown) + " more", "", () => {
            view.shown += shownAtOnce;
            showRecords();
        }));
    }
    showDetails();
}

function told(value) {
    const text = typeof value === "string" ? value : JSON.stringify(value, null, 1);
    return text.length > longestText ? text.slice(0, longestText) + "… (" + text.length + " characters)" : text;
}

async function showDetails() {
    const { user, zone: name, record: chosen } = view;
    const place = at("details");
    const record = name && chosen !== null ? zone(user, name).records.get(chosen) : undefined;
    if (!record) {
        place.replaceChildren(element("h2", "Record"), element("p", "Choose one on the left."));
        return;
    }
    const table = element("table");
    const add = (title, value, kind) => {
        const row = element("tr");
        const cell = element("td");
        cell.append(value instanceof Node ? value : element("pre", told(value)));
        row.append(element("th", title), cell, element("td", kind || ""));
        table.append(row);
    };
    add("type", record.recordType || "");
    add("tag", record.recordChangeTag || "");
    if (record.deleted) add("deleted", "yes");
    if (record.parent) {
        const parent = record.parent.recordName;
        add("parent", button(parent, "", () => {
            view.record = parent;
            showRecords();
        }));
    }
    for (const part of ["created", "modified"]) {
        if (record[part]) add(part, stamp(record[part]) + " by " + (record[part].userRecordName || ""));
    }
    for (const field of Object.keys(record.fields || {}).sort()) {
        add(field, record.fields[field].value ?? null, record.fields[field].type);
    }
    const list = element("ol");
    place.replaceChildren(element("h2", chosen), table, element("h2", "History"), list);
    let versions = [];
    try {
        const found = (await ask(user, "history", { zoneName: name, recordName: chosen })).versions;
        versions = found.map((version) => ({ seen: version.seen, ...version.record }));
    } catch (error) {
        list.append(element("li", error.message, "bad"));
    }
    if (view.record !== chosen || !list.isConnected) return;
    list.append(...versions.map((version, index) => {
        const earlier = versions[index + 1];
        const item = element("li", version.deleted ? "deleted" : version.recordChangeTag, version.deleted ? "deleted" : "");
        const fields = Object.keys(version.fields || {}).filter((field) => !earlier || earlier.deleted
            || JSON.stringify((earlier.fields || {})[field]) !== JSON.stringify(version.fields[field]));
        const gone = earlier ? Object.keys(earlier.fields || {}).filter((field) => !(field in (version.fields || {}))) : [];
        item.append(" " + (stamp(version.modified) || version.seen));
        if (!version.deleted) {
            const changes = Object.create(null);
            for (const field of fields.sort()) changes[field] = version.fields[field].value ?? null;
            for (const field of gone) changes[field] = null;
            item.append(element("pre", told(changes)));
        }
        return item;
    }));
}

// MARK: Requests

function showRequests(requests) {
    at("requests").tBodies[0].replaceChildren(...requests.map((request) => {
        const row = element("tr");
        row.append(element("td", request.date.slice(11, 23)), element("td", request.status, request.status >= 400 ? "bad" : ""),
            element("td", request.method), element("td", request.path), element("td", request.user || ""));
        return row;
    }));
}

// MARK: Faults

async function readFaults() {
    if (!view.server.isAdmin) return;
    const faults = await call("/dashboard/faults", undefined, "GET");
    at("faults-on").replaceChildren(...faults.map((fault) => {
        const item = element("li", fault.fault + " for " + (fault.user || "everybody") + (fault.zone ? " in " + fault.zone : "")
            + (fault.operation ? ", " + fault.operation : "")
            + (fault.count ? ", " + fault.count + " times " : ", until switched off "));
        item.append(button("switch off", "", async () => {
            await call("/dashboard/faults/" + fault.id, undefined, "DELETE");
            await readFaults();
        }));
        return item;
    }));
}

function prepareFaults() {
    at("faults").hidden = !view.server.isAdmin;
    at("fault-name").replaceChildren(...view.server.faults.map((name) => element("option", name)));
    const all = element("option", "everybody");
    all.value = "";
    at("fault-user").replaceChildren(all, ...view.server.users.map((user) => {
        const option = element("option", user);
        option.value = user;
        return option;
    }));
}

at("fault").addEventListener("submit", async (event) => {
    event.preventDefault();
    const plan = { fault: at("fault-name").value };
    if (at("fault-user").value) plan.user = at("fault-user").value;
    if (at("fault-zone").value) plan.zone = at("fault-zone").value;
    if (at("fault-operation").value) plan.operation = at("fault-operation").value;
    if (at("fault-until-off").checked) plan.untilOff = true;
    else plan.count = Number(at("fault-count").value) || 1;
    if (at("fault-seconds").value) plan.seconds = Number(at("fault-seconds").value);
    try {
        await call("/dashboard/faults", plan);
        at("fault-answer").textContent = "done";
    } catch (error) {
        at("fault-answer").textContent = error.message;
    }
    await readFaults();
});

// MARK: Begin

at("filter").addEventListener("input", () => {
    view.shown = shownAtOnce;
    showRecords();
});

at("sign-in").addEventListener("submit", async (event) => {
    event.preventDefault();
    await signIn(at("token").value);
    location.reload();
});

const signIn = (token) => call("/dashboard/sign-in", { token });

// Waits for what happens, without an end.
async function follow() {
    for (;;) {
        try {
            const news = await call("/dashboard/news", { after: lastEvent });
            at("connection").textContent = "";
            const isFirst = lastEvent === 0;
            lastEvent = news.last;
            if (news.requests) showRequests(news.requests);
            if (isFirst) continue;
            await readFaults();
            if (news.users.includes(view.user)) await readZones();
        } catch (error) {
            at("connection").textContent = error.message;
            await new Promise((resolve) => setTimeout(resolve, 1000));
        }
    }
}

async function begin() {
    // A fragment never leaves the browser; the token in it is exchanged for a cookie that no script can read.
    const wanted = new URLSearchParams(location.hash.slice(1));
    const token = wanted.get("admin");
    if (token) {
        history.replaceState(null, "", location.pathname);
        await signIn(token);
    }
    view.server = await call("/dashboard/server");
    at("place").textContent = view.server.container + ", " + view.server.environment;
    prepareFaults();
    await readFaults();
    follow();
    if (view.server.users.length === 0) return;
    const user = view.server.users.includes(wanted.get("user")) ? wanted.get("user") : view.server.users[0];
    Object.assign(view, { user, zone: wanted.get("zone"), record: wanted.get("record") });
    showUsers();
    await readZones();
}

begin().catch((error) => { at("connection").textContent = error.message; });
