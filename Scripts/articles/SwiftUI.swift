// A stand-in for the part of SwiftUI that the articles use, for systems without it: declarations to compile against, with
// the isolation of the real ones and no implementation.

@_exported import Foundation
@_exported import Observation

#if canImport(UIKit)
import UIKit

@MainActor @preconcurrency @propertyWrapper public struct UIApplicationDelegateAdaptor<Delegate>
where Delegate: NSObject, Delegate: UIApplicationDelegate {
    public init(_ type: Delegate.Type = Delegate.self) {}
    public var wrappedValue: Delegate { nothing() }
}
#endif

@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}

extension Never: View {
    public var body: Never { return nothing() }
}

/// The type of every body here, which nothing evaluates.
public struct Nothing: View {
    public var body: Never { return nothing() }
}

private func nothing() -> Never { preconditionFailure("There is no view here.") }

@resultBuilder public enum ViewBuilder {
    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> Nothing { Nothing() }
    public static func buildOptional(_ content: Nothing?) -> Nothing { Nothing() }
}

@MainActor @preconcurrency public protocol Scene {
    associatedtype Body: Scene
    @SceneBuilder var body: Body { get }
}

extension Never: Scene {}

public enum ScenePhase: Comparable, Sendable {
    case background, inactive, active
}

extension Scene {
    public nonisolated func onChange<Value: Equatable>(
        of value: Value,
        initial: Bool = false,
        _ action: @escaping () -> Void
    ) -> some Scene { Nowhere() }
}

/// The type of a changed scene here.
public struct Nowhere: Scene {
    nonisolated init() {}
    public var body: Never { return nothing() }
}

@resultBuilder public enum SceneBuilder {
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}

public struct WindowGroup<Content: View>: Scene {
    public init(@ViewBuilder content: () -> Content) {}
    public var body: Never { return nothing() }
}

@MainActor @preconcurrency public protocol App {
    associatedtype Body: Scene
    @SceneBuilder var body: Body { get }
    init()
}

extension App {
    public static func main() {}
}

@propertyWrapper public struct State<Value> {
    private let value: Value
    public init(wrappedValue: Value) { value = wrappedValue }
    public init(initialValue: Value) { value = initialValue }
    public var wrappedValue: Value {
        get { value }
        nonmutating set {}
    }
    public var projectedValue: Binding<Value> { Binding(get: { nothing() }, set: { _ in }) }
}

@propertyWrapper @dynamicMemberLookup public struct Binding<Value> {
    @preconcurrency public init(
        @_inheritActorContext get: @escaping @isolated(any) @Sendable () -> Value,
        @_inheritActorContext set: @escaping @isolated(any) @Sendable (Value) -> Void
    ) {}
    public var wrappedValue: Value {
        get { nothing() }
        nonmutating set {}
    }
    public var projectedValue: Binding<Value> { self }
    public subscript<Subject>(dynamicMember keyPath: WritableKeyPath<Value, Subject>) -> Binding<Subject> {
        Binding<Subject>(get: { nothing() }, set: { _ in })
    }
}

public struct EnvironmentValues {
    public var dismiss: DismissAction { DismissAction() }
    public var scenePhase: ScenePhase { .active }
}

@MainActor @preconcurrency public struct DismissAction {
    nonisolated init() {}
    public func callAsFunction() {}
}

@propertyWrapper public struct Environment<Value> {
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) {}
    public var wrappedValue: Value { nothing() }
}

public struct Toggle: View {
    public init(_ title: some StringProtocol, isOn: Binding<Bool>) {}
    public var body: Never { return nothing() }
}

public struct Text: View {
    public init<Content: StringProtocol>(_ content: Content) {}
    public var body: Never { return nothing() }
}

public struct TextField: View {
    public init(_ title: some StringProtocol, text: Binding<String>) {}
    public var body: Never { return nothing() }
}

public struct Button: View {
    @preconcurrency public init(_ title: some StringProtocol, action: @escaping @MainActor () -> Void) {}
    public var body: Never { return nothing() }
}

public struct Form: View {
    public init(@ViewBuilder content: () -> some View) {}
    public var body: Never { return nothing() }
}

public struct List: View {
    public init(@ViewBuilder content: () -> some View) {}
    public var body: Never { return nothing() }
}

public struct ForEach<Data: RandomAccessCollection>: View where Data.Element: Identifiable {
    public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> some View) {}
    public var body: Never { return nothing() }
}

extension View {
    public func disabled(_ disabled: Bool) -> some View { self }

    public func task(
        @_inheritActorContext _ action: sending @escaping @isolated(any) () async -> Void
    ) -> some View { self }

    public func sheet<Item: Identifiable>(
        item: Binding<Item?>,
        @ViewBuilder content: @escaping (Item) -> some View
    ) -> some View { self }
}
