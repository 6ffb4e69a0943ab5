package io.penstock.disagg.registry;

import io.penstock.disagg.Incarnation;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.registry.Registration.Endpoint;
import io.penstock.disagg.registry.Registration.Engine;
import io.penstock.disagg.registry.Registration.Side;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// An instance as the registry sees it at one moment.
///
/// @param state progress of its registration
/// @param ranks registered ranks, by number; distinct
public record InstanceView(String instance, Side side, int version, Manifest manifest, State state,
    List<Registered> ranks) {
  /// Progress of an instance's registration.
  public enum State {
    /// Some ranks are missing, and may still come.
    COMING,
    /// All ranks are registered.
    READY,
    /// Ranks were missing for too long.
    FAILED
  }

  /// @param endpoint where the rank listens
  /// @param engine the HTTP endpoint that the rank names; null for none
  public record Registered(Incarnation who, Endpoint endpoint, @Nullable Engine engine) {}

  public InstanceView {
    ranks = List.copyOf(ranks);
  }

  /// The later view `other` of this instance, with the ranks of both.
  public InstanceView and(InstanceView other) {
    List<Registered> all = new ArrayList<>(ranks);
    all.addAll(other.ranks());
    return new InstanceView(instance, side, other.version(), other.manifest(), other.state(), all);
  }

  /// Ranks of the instance, those that are missing among them.
  public int size() {
    return Registration.ranks(manifest);
  }

  public boolean isReady() {
    return state == State.READY;
  }

  /// The rank with this number, if it is registered.
  public Optional<Registered> rank(int number) {
    return ranks.stream().filter(each -> each.who().rank().rank() == number).findFirst();
  }
}
