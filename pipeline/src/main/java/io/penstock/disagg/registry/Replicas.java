package io.penstock.disagg.registry;

import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalInt;

/// The data-parallel replicas of requests. Entries live equally long, so the oldest one expires first. Not safe for use
/// by several threads.
final class Replicas {
  /// Source of what other registries tell, whose bounds hold for it.
  private static final Object TOLD = new Object();

  private final RegistryBounds bounds;
  private final long lifeNanos;
  private final Map<String, Assigned> byRequest = new LinkedHashMap<>();
  private final Shares shares = new Shares();

  private record Assigned(int replica, long endNanos, Object address) {}

  Replicas(RegistryBounds bounds, Duration life) {
    this.bounds = bounds;
    this.lifeNanos = life.toNanos();
  }

  /// @return whether that is new
  boolean assign(String request, int replica, Object address, long now) {
    expire(now);
    Assigned known = byRequest.get(request);
    if (known == null) {
      Shares.require("requests", byRequest.size() + 1, bounds.requests());
      shares.requireRoom("requests of one address", address, bounds.addressRequests());
      byRequest.put(request, new Assigned(replica, now + lifeNanos, address));
      shares.enter(address);
    } else if (known.replica() != replica) {
      throw new RegistrationRefusedException("replica", known.replica(), replica);
    }
    return known == null;
  }

  /// Takes what another registry tells. Where two have told different replicas, the lower one has the request.
  void take(String request, int replica, long now) {
    expire(now);
    Assigned known = byRequest.get(request);
    if (known == null) {
      byRequest.put(request, new Assigned(replica, now + lifeNanos, TOLD));
      shares.enter(TOLD);
    } else if (replica < known.replica()) {
      byRequest.put(request, new Assigned(replica, known.endNanos(), known.address()));
    }
  }

  OptionalInt replica(String request, long now) {
    expire(now);
    Assigned known = byRequest.get(request);
    return known == null ? OptionalInt.empty() : OptionalInt.of(known.replica());
  }

  void expire(long now) {
    Iterator<Assigned> oldest = byRequest.values().iterator();
    while (oldest.hasNext()) {
      Assigned assigned = oldest.next();
      if (assigned.endNanos() - now > 0) {
        return;
      }
      oldest.remove();
      shares.leave(assigned.address());
    }
  }
}
