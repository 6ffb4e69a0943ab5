package io.penstock.disagg.registry;

/// The way from one registry to the others of its cluster. What those tell comes by [RankRegistry#take(RankFact)],
/// [RankRegistry#heard(java.util.List)] and [RankRegistry#take(String, int)]. Called outside locks, from any thread, in
/// any order; must not wait.
public interface RegistryShare {
  /// Whether the registry knows by now what the others know. Before, it answers no peer.
  boolean isReady();

  /// Tells a new fact.
  void changed(RankFact fact);

  /// A rank was heard here: [RankRegistry#heardHere] has changed.
  void heard();

  /// The last fact of a rank that is free, and that is forgotten here: there is room for no more.
  void dropped(RankFact fact);

  /// Tells which data-parallel replica has a request.
  void assigned(String request, int replica);
}
