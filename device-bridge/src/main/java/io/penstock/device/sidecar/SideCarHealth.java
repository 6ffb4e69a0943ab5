package io.penstock.device.sidecar;

import io.penstock.KvException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Health of a client.
public final class SideCarHealth {
  /// Phase of a client on its way to healthy.
  public enum Phase {
    /// There is no connection; the next attempt is due or under way.
    CONNECTING,
    /// Connected, and the node does not have all regions yet.
    REPLAYING,
    HEALTHY,
    CLOSED
  }

  private final Phase phase;
  private final @Nullable KvException failure;

  public SideCarHealth(Phase phase, @Nullable KvException failure) {
    this.phase = phase;
    this.failure = failure;
  }

  public Phase phase() {
    return phase;
  }

  public boolean isHealthy() {
    return phase == Phase.HEALTHY;
  }

  /// Why it is not healthy, if something went wrong; a [SideCarFailure], which names the region that could not be
  /// replayed.
  public Optional<KvException> failure() {
    return Optional.ofNullable(failure);
  }

  @Override
  public String toString() {
    return failure == null ? phase.toString() : phase + ": " + failure.getMessage();
  }
}
