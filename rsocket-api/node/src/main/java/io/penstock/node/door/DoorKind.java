package io.penstock.node.door;

import reactor.core.publisher.Mono;

/// A protocol that a node can speak at a door, found by `ServiceLoader`.
public interface DoorKind {
  /// Its name among the settings, such as `resp`.
  String name();

  /// Opens a door.
  ///
  /// @return cold; signals an `IOException` if this user cannot listen there
  Mono<Door> open(DoorTerms terms);
}
