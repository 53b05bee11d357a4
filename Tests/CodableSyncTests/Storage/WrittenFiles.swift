/// Files of a state as each version of the format has written them, by their names.
///
/// They stay as they are: ``WrittenFilesTests`` reads all of them.
enum WrittenFiles {
    /// The files by the version of the format.
    static var all: [(version: String, files: [String: String])] { [("7", version7)] }

    // swift-format-ignore
    static let version7 = [
        "snapshot-2.jsonl": #"""
            {"format":"codablesync-state","version":7,"kind":"snapshot","number":2,"log":"123456789abcdef0","of":{"cloud":"cloud-1","scope":"private","container":"iCloud.example","zone":"Item","recordType":"Item","switches":0},"checksum":"5a6e3032fede363f"}
            {"summary":{"databaseToken":"ZGF0YWJhc2UgdG9rZW4=","serverWait":1800000000000,"lastFetch":1800000000000,"lastNumber":9,"initialModels":[["Item","m"]],"schemas":[["Item",2,true]],"identity":{"cloud":"cloud-1","scope":"private","container":"iCloud.example","zone":"Item","recordType":"Item"},"switches":0,"followed":true},"lastHandle":15}
            {"commit":1,"checksum":"a45cf726aa6b6ae4"}
            {"streams":{"accepted":7,"everythingAfter":[[1,"edited"]],"held":[[1,[[1,"gone"]]]],"suspects":[[1,"undecodable"]]}}
            {"commit":1,"checksum":"efd0c58b03517827"}
            {"zone":1,"zoneState":{"name":"Item","owner":"__defaultOwner__","stage":"ready","token":"em9uZSB0b2tlbg==","subscribed":true,"listing":2,"unfetched":["tag 20"]}}
            {"commit":1,"checksum":"3d5bb081df84c91b"}
            {"note":{"kind":"parked","date":1800000000000,"record":"parked","message":"The server refused it."}}
            {"note":{"kind":"recovered","date":1800000000000,"message":"A line was damaged."}}
            {"commit":2,"checksum":"40000643406dce37"}
            {"zone":1,"name":"deleted","record":{"type":"Item","known":{"tag":"tag 4","handle":4,"hash":4000012,"modified":1800000000000,"size":40},"pending":{"delete":true,"edited":1800000000000,"base":4},"deletionSent":true,"listing":0},"places":[[4,0,141]]}
            {"commit":1,"checksum":"98f9044c958aedb4"}
            {"zone":1,"name":"drafted","record":{"type":"Item","known":{"tag":"tag 7","handle":7,"hash":7000021,"modified":1800000000000,"size":40},"carried":{"tags":[["carried",14]],"ownBase":15},"pending":{"save":8,"size":43,"edited":1800000000000,"base":7,"contested":9,"sides":[{"edit":10,"ancestor":11,"contested":12,"own":true}],"earlier":[13]},"listing":0},"places":[[7,142,141],[8,284,141],[9,426,141],[10,568,143],[11,712,143],[12,856,143],[13,1000,143],[14,1144,143],[15,1288,143]]}
            {"commit":1,"checksum":"f4b8988e45607ca7"}
            {"zone":1,"name":"edited","record":{"type":"Item","known":{"tag":"tag 2","handle":2,"hash":2000006,"modified":1800000000000,"size":40},"pending":{"save":3,"size":41,"edited":1800000000000,"base":2},"sent":[[3,2,false]],"listing":0},"places":[[2,1432,140],[3,1573,140]]}
            {"commit":1,"checksum":"ca2fdc9cc0ccc766"}
            {"zone":1,"name":"known","record":{"type":"Item","known":{"tag":"tag 1","handle":1,"hash":1000003,"modified":1800000000000,"size":40},"listing":2},"places":[[1,1714,149]]}
            {"commit":1,"checksum":"2382fc7aa4172a25"}
            {"zone":1,"name":"parked","record":{"type":"Item","known":{"tag":"tag 5","handle":5,"hash":5000015,"modified":1800000000000,"size":40},"pending":{"save":6,"size":42,"edited":1800000000000,"base":5,"parked":{"kind":"refused","message":"The server refused it.","attempts":2}},"listing":0},"places":[[5,1864,140],[6,2005,140]]}
            {"commit":1,"checksum":"e26442e90eb7566a"}
            {"end":10,"behind":2146,"checksum":"9a49fbc6af1eb1d9"}
            [4,"c6fd90d1ee4a8905",{"name":"deleted","zone":"Item","type":"Item","fields":{"opened":{"date":1800000000000},"title":"title 4","visits":3}}]
            [7,"0960f7646c876464",{"name":"drafted","zone":"Item","type":"Item","fields":{"opened":{"date":1800000000000},"title":"title 7","visits":3}}]
            [8,"a55db7620a23f731",{"name":"drafted","zone":"Item","type":"Item","fields":{"opened":{"date":1800000000000},"title":"title 8","visits":3}}]
            [9,"dfa04de4c82a4b29",{"name":"drafted","zone":"Item","type":"Item","fields":{"opened":{"date":1800000000000},"title":"title 9","visits":3}}]
            [10,"f58420236459932a",{"name":"drafted","zone":"Item","type":"Item","fields":{"opened":{"date":1800000000000},"title":"title 10","visits":3}}]
            [11,"82226f826c0680f7",{"name":"drafted","zone":"Item","type":"Item","fields":{"opened":{"date":1800000000000},"title":"title 11","visits":3}}]
            [12,"53db30273e600536",{"name":"drafted","zone":"Item","type":"Item","fields":{"opened":{"date":1800000000000},"title":"title 12","visits":3}}]
            [13,"1f4c975244fb2912",{"name":"drafted","zone":"Item","type":"Item","fields":{"opened":{"date":1800000000000},"title":"title 13","visits":3}}]
            [14,"f3dd17d3888bec90",{"name":"drafted","zone":"Item","type":"Item","fields":{"opened":{"date":1800000000000},"title":"title 14","visits":3}}]
            [15,"8fa23492418950b1",{"name":"drafted","zone":"Item","type":"Item","fields":{"opened":{"date":1800000000000},"title":"title 15","visits":3}}]
            [2,"a383689cb328697f",{"name":"edited","zone":"Item","type":"Item","fields":{"opened":{"date":1800000000000},"title":"title 2","visits":3}}]
            [3,"bd6c2c6ef833c72c",{"name":"edited","zone":"Item","type":"Item","fields":{"opened":{"date":1800000000000},"title":"title 3","visits":3}}]
            [1,"d164d253a69275c0",{"name":"known","zone":"Item","type":"Item","fields":{"opened":{"date":1800000000000},"title":"title 1","visits":3}},["title"]]
            [5,"6a11cea85715c353",{"name":"parked","zone":"Item","type":"Item","fields":{"opened":{"date":1800000000000},"title":"title 5","visits":3}}]
            [6,"3dcfe43cf9fc45c3",{"name":"parked","zone":"Item","type":"Item","fields":{"opened":{"date":1800000000000},"title":"title 6","visits":3}}]

            """#,
        "journal-2.jsonl": #"""
            {"format":"codablesync-state","version":7,"kind":"journal","number":2,"log":"123456789abcdef0","previousSize":4684,"of":{"cloud":"cloud-1","scope":"private","container":"iCloud.example","zone":"Item","recordType":"Item","switches":0},"checksum":"8de9f8d64ed0b42d"}
            {"zone":1,"name":"lost","record":{"type":"Item","lost":{"tag":"tag 16","handle":16,"hash":16000048,"modified":1800000000000,"size":40},"lostRefused":true,"listing":0}}
            [16,"8bb0271b775bfe9b",{"name":"lost","zone":"Item","type":"Item","fields":{"opened":{"date":1800000000000},"title":"title 16","visits":3}}]
            {"commit":2,"checksum":"1dd5e5323378d362"}
            {"zone":1,"name":"newer","record":{"type":"Item","known":{"tag":"tag 17","handle":17,"hash":17000051,"modified":1800000000000,"size":40,"schema":3},"kept":{"tag":"tag 18","handle":18,"hash":18000054,"modified":1800000000000,"size":40,"schema":2},"listing":0}}
            [17,"24921436a8185236",{"name":"newer","zone":"Item","type":"Item","fields":{"opened":{"date":1800000000000},"title":"title 17","visits":3}}]
            [18,"55785d2c15c7819e",{"name":"newer","zone":"Item","type":"Item","fields":{"opened":{"date":1800000000000},"title":"title 18","visits":3}}]
            {"commit":3,"checksum":"ded7e580f76e743f"}
            {"zone":1,"name":"gone","record":{"type":"Item","deleted":true,"former":19,"news":8,"listing":0}}
            [19,"b51c80c220af3494",{"name":"gone","zone":"Item","type":"Item","fields":{"opened":{"date":1800000000000},"title":"title 19","visits":3}}]
            {"commit":2,"checksum":"41378a41b61d4060"}
            {"zone":1,"name":"saved \"🌍\"\n","record":{"type":"Item","known":{"tag":"tag 20","handle":20,"hash":20000060,"modified":1800000000000,"size":40},"saved":9,"listing":0,"lookUpNeeded":true}}
            [20,"22149ef17b9cc22b",{"name":"saved \"🌍\"\n","zone":"Item","type":"Item","fields":{"opened":{"date":1800000000000},"title":"title 20","visits":3}}]
            {"commit":2,"checksum":"628c0b5642ad70de"}
            {"zone":1,"name":"undecodable","record":{"type":"Item","known":{"tag":"tag 21","handle":21,"hash":21000063,"modified":1800000000000,"size":40},"news":7,"undecodable":true,"listing":0}}
            [21,"d82b71a2a086c72e",{"name":"undecodable","zone":"Item","type":"Item","fields":{"opened":{"date":1800000000000},"title":"title 21","visits":3}}]
            {"commit":2,"checksum":"15483c2307d949bd"}

            """#,
        "journal-3.jsonl": #"""
            {"format":"codablesync-state","version":7,"kind":"journal","number":3,"log":"123456789abcdef0","previousSize":2250,"of":{"cloud":"cloud-1","scope":"private","container":"iCloud.example","zone":"Item","recordType":"Item","user":"alice","switches":2},"checksum":"ec742b895f33c361"}
            {"summary":{"databaseToken":"ZGF0YWJhc2UgdG9rZW4=","serverWait":1800000000000,"lastFetch":1800000000000,"lastNumber":9,"initialModels":[["Item","m"]],"schemas":[["Item",2,true]],"identity":{"cloud":"cloud-1","scope":"private","container":"iCloud.example","zone":"Item","recordType":"Item"},"user":"alice","switches":2,"untoldSwitch":{"from":"bob"},"followed":true}}
            {"commit":1,"checksum":"98ea6ba08892ccea"}

            """#,
    ]
}
