package io.penstock.gateway.instance;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.gateway.dialect.EngineAddress;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// One engine behind the gateway. It takes requests while it is healthy and not drained. Safe for use by several
/// threads.
public final class Instance {
  private final String name;
  private final InstanceRole role;
  private final EngineAddress address;
  private final HealthOptions options;
  private final Sinks.Empty<Void> gone = Sinks.empty();
  /// What the engine was found to lack. An engine that comes up again may be another one, so nothing is lacking then.
  private final Set<Lack> lacking = ConcurrentHashMap.newKeySet();
  @GuardedBy("this") private boolean up;
  @GuardedBy("this") private boolean everUp;
  @GuardedBy("this") private boolean draining;
  @GuardedBy("this") private boolean removed;
  /// Results in a row that speak against `up`.
  @GuardedBy("this") private int against;
  @GuardedBy("this") private int requests;

  /// Something that an engine may lack.
  ///
  /// @param what token ids in the streams of an endpoint, or the endpoint
  /// @param path of the endpoint
  private record Lack(What what, String path) {
    private enum What {
      TOKEN_IDS, ENDPOINT
    }
  }

  Instance(String name, InstanceRole role, EngineAddress address, HealthOptions options) {
    this.name = name;
    this.role = role;
    this.address = address;
    this.options = options;
  }

  public String name() {
    return name;
  }

  public InstanceRole role() {
    return role;
  }

  public EngineAddress address() {
    return address;
  }

  /// Whether it takes requests.
  public synchronized boolean isLive() {
    return up && !draining && !removed;
  }

  /// Whether requests may try it when no instance of its role is live: it answered once. Probes of engines that are
  /// busy come late, and engines that answer late are better than none.
  public synchronized boolean mayBeTried() {
    return everUp && !draining && !removed;
  }

  /// Requests that run there.
  public synchronized int requests() {
    return requests;
  }

  /// Whether the engine refused to name token ids in streams of an endpoint.
  public boolean refusesTokenIds(String path) {
    return lacking.contains(new Lack(Lack.What.TOKEN_IDS, path));
  }

  /// The engine refused to name token ids in a stream of this endpoint.
  public void refuseTokenIds(String path) {
    lacking.add(new Lack(Lack.What.TOKEN_IDS, path));
  }

  /// Whether the engine was found to have no such endpoint.
  public boolean lacksEndpoint(String path) {
    return lacking.contains(new Lack(Lack.What.ENDPOINT, path));
  }

  /// The engine has no such endpoint.
  public void lackEndpoint(String path) {
    lacking.add(new Lack(Lack.What.ENDPOINT, path));
  }

  /// The word of its state: `up`, `down`, `draining` or `removed`.
  public synchronized String state() {
    return removed ? "removed" : draining ? "draining" : up ? "up" : "down";
  }

  /// Counts a request.
  ///
  /// @return whether the instance takes it; then [#end] must follow
  public synchronized boolean begin() {
    if (!mayBeTried()) {
      return false;
    }
    requests++;
    return true;
  }

  /// A request ended.
  public void end() {
    boolean last;
    synchronized (this) {
      requests--;
      last = removed && requests == 0;
    }
    if (last) {
      gone.tryEmitEmpty();
    }
  }

  /// Counts the result of a probe or of a request.
  ///
  /// @return whether the instance went up or down by it
  synchronized boolean observe(boolean success) {
    if (success == up) {
      against = 0;
      return false;
    }
    against++;
    int needed = up ? options.downAfter() : everUp ? options.upAfter() : 1;
    if (against < needed) {
      return false;
    }
    against = 0;
    up = success;
    everUp |= success;
    if (up) {
      lacking.clear();
    }
    return true;
  }

  synchronized void drain(boolean drained) {
    draining = drained;
  }

  /// Takes no request from now on. Completes when the last one ended.
  Mono<Void> remove() {
    boolean idle;
    synchronized (this) {
      removed = true;
      idle = requests == 0;
    }
    if (idle) {
      gone.tryEmitEmpty();
    }
    return gone.asMono();
  }

  @Override
  public String toString() {
    return name;
  }
}
