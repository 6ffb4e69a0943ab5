package io.penstock.gateway.instance;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.disagg.registry.InstanceView;
import io.penstock.disagg.registry.InstanceView.Registered;
import io.penstock.disagg.registry.Registration.Engine;
import io.penstock.gateway.dialect.EngineAddress;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Keeps the engines that a registry names among the [Instances].
///
/// - An engine comes when all ranks of its instance are registered. It takes requests after its first successful probe.
/// - An engine that registers as draining gets no new requests. It is removed when it has left the registry.
/// - An engine that is missing without that, because its lease expired or the registry lost it, keeps its place while
///   its probes succeed, and is removed after some patience: a registry that restarts knows its ranks again soon.
/// - While the registry does not answer, all that is known stays.
/// - An instance that was removed by hand comes back with the next start of its engine. Instances that were added by
///   hand are left alone.
public final class RegistryFollower {
  private static final Logger LOG = LoggerFactory.getLogger(RegistryFollower.class);
  private static final String NAME = "[A-Za-z0-9._:-]{1,128}";

  private final Instances instances;
  private final Options options;
  private final Predicate<InstanceView> wanted;
  private final Scheduler timer;
  private final Disposable.Swap following = Disposables.swap();
  @GuardedBy("this") private final Map<String, Entry> followed = new LinkedHashMap<>();
  @GuardedBy("this") private final Set<String> refused = new HashSet<>();
  private volatile boolean isLost;

  /// How a registry is followed.
  ///
  /// @param interval between two looks
  /// @param patience how long an engine that is missing keeps its place
  public record Options(Duration interval, Duration patience) {
    /// A look each second; 15 s, in which a rank registers again at a registry that restarted.
    public static Options defaults() {
      return new Options(Duration.ofSeconds(1), Duration.ofSeconds(15));
    }
  }

  /// An engine as the registry names it.
  private record Named(InstanceRole role, EngineAddress address, long generation, boolean isDraining) {
    boolean isAt(Named other) {
      return role == other.role && address.equals(other.address);
    }
  }

  private static final class Entry {
    private static final long PRESENT = Long.MIN_VALUE;
    Named named;
    @Nullable Instance instance;
    boolean isDrained;
    long missingSince = PRESENT;

    Entry(Named named) {
      this.named = named;
    }
  }

  /// @param wanted whether the engines of an instance are followed
  /// @param timer the clock
  public RegistryFollower(Instances instances, Options options, Predicate<InstanceView> wanted, Scheduler timer) {
    this.instances = instances;
    this.options = options;
    this.wanted = wanted;
    this.timer = timer;
  }

  /// Follows from now on.
  ///
  /// @param views all instances of the registry; cold, asked once a look
  public void follow(Mono<List<InstanceView>> views) {
    following.update(Flux.interval(Duration.ZERO, options.interval(), timer).onBackpressureDrop()
        .concatMap(tick -> views.timeout(options.patience(), timer).doOnNext(this::found).onErrorResume(failure -> {
          lost(failure);
          return Mono.empty();
        }), 1).subscribe());
  }

  /// Follows no longer. The instances stay.
  public void close() {
    following.dispose();
  }

  private void lost(Throwable failure) {
    if (!isLost) {
      isLost = true;
      if (failure instanceof RemotePermanentException remote && remote.code() == ErrorCode.UNKNOWN_ROUTE.code()) {
        LOG.warn("the node keeps no registry, as serve --registry true lets it; known instances stay");
      } else {
        LOG.warn("the registry does not answer; known instances stay: {}", failure.getMessage());
      }
    }
  }

  private void found(List<InstanceView> views) {
    if (isLost) {
      isLost = false;
      LOG.info("the registry answers again");
    }
    Map<String, Named> now = named(views);
    synchronized (this) {
      now.forEach(this::present);
      Iterator<Map.Entry<String, Entry>> all = followed.entrySet().iterator();
      while (all.hasNext()) {
        Map.Entry<String, Entry> one = all.next();
        if (!now.containsKey(one.getKey()) && missing(one.getKey(), one.getValue())) {
          all.remove();
        }
      }
      refused.retainAll(now.keySet());
    }
  }

  private Map<String, Named> named(List<InstanceView> views) {
    Map<String, Named> now = new HashMap<>();
    for (InstanceView view : views) {
      if (view.isReady() && wanted.test(view)) {
        for (Registered rank : view.ranks()) {
          name(view, rank, now);
        }
      }
    }
    return now;
  }

  private void name(InstanceView view, Registered rank, Map<String, Named> now) {
    Engine engine = rank.engine();
    if (engine == null) {
      return;
    }
    int number = rank.who().rank().rank();
    String name = number == 0 ? view.instance() : view.instance() + "." + number;
    try {
      EngineAddress address = EngineAddress.parse(engine.url());
      now.put(name.matches(NAME) ? name : address.url().getAuthority(),
          new Named(InstanceRole.valueOf(engine.role().name()), address, rank.who().generation(),
              engine.isDraining()));
    } catch (IllegalArgumentException e) {
      refuse(name, e);
    }
  }

  private synchronized void refuse(String name, IllegalArgumentException why) {
    if (refused.add(name)) {
      LOG.warn("engine {} of the registry is left out: {}", name, why.getMessage());
    }
  }

  @GuardedBy("this") private void present(String name, Named named) {
    Entry one = followed.get(name);
    if (one != null && !one.named.isAt(named)) {
      remove(name, one);
      followed.remove(name);
      one = null;
    }
    boolean isNew = one == null || (named.generation() != one.named.generation() && !isThere(one));
    if (one == null) {
      one = new Entry(named);
    }
    if (isNew && !add(name, one, named)) {
      return;
    }
    followed.put(name, one);
    if (one.missingSince != Entry.PRESENT) {
      one.missingSince = Entry.PRESENT;
      LOG.info("instance {} is in the registry again", name);
    }
    one.named = named;
    if (one.isDrained != named.isDraining() && isThere(one)) {
      instances.drain(name, named.isDraining());
      one.isDrained = named.isDraining();
    }
  }

  @GuardedBy("this") private boolean add(String name, Entry one, Named named) {
    try {
      requireNew(named.address());
      one.instance = instances.add(name, named.role(), named.address());
      one.isDrained = false;
      refused.remove(name);
      return true;
    } catch (IllegalArgumentException e) {
      refuse(name, e);
      return false;
    }
  }

  private void requireNew(EngineAddress address) {
    for (Instance each : instances.all()) {
      if (each.address().url().equals(address.url())) {
        throw new IllegalArgumentException("url must be that of no other instance (was that of " + each + ")");
      }
    }
  }

  /// Whether it was not removed by hand.
  private boolean isThere(Entry one) {
    Instance instance = one.instance;
    return instance != null && !instance.state().equals("removed");
  }

  /// @return whether it was removed
  @GuardedBy("this") private boolean missing(String name, Entry one) {
    long now = timer.now(TimeUnit.NANOSECONDS);
    if (one.missingSince == Entry.PRESENT) {
      one.missingSince = now;
      LOG.info("instance {} is missing in the registry", name);
    }
    if (!one.named.isDraining() && now - one.missingSince < options.patience().toNanos()) {
      return false;
    }
    remove(name, one);
    return true;
  }

  private void remove(String name, Entry one) {
    if (isThere(one)) {
      instances.remove(name).subscribe(nothing -> {},
          failure -> LOG.info("instance {} was removed by hand: {}", name, failure.getMessage()));
    }
  }
}
