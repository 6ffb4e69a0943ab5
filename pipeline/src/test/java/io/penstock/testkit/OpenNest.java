package io.penstock.testkit;

/// A type with three public types in it, one of them in another, see `PublicTypesTest`.
public interface OpenNest {
  /// In the nest.
  record Egg() {
    /// In the egg.
    public record Yolk() {}
  }

  /// In the nest.
  enum Bird {}
}
