package io.penstock.gateway.instance;

import io.penstock.gateway.dialect.EngineAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// The instances behind the gateway. Each comes, drains and goes by itself, while the others serve. Safe for use by
/// several threads.
public final class Instances {
  private static final Logger LOG = LoggerFactory.getLogger(Instances.class);

  private final Map<String, Instance> byName = new ConcurrentHashMap<>();
  /// Those that were removed while requests ran there, until the last of these has ended.
  private final Set<Instance> leaving = ConcurrentHashMap.newKeySet();
  private final Map<String, Disposable> probes = new ConcurrentHashMap<>();
  private final List<Listener> listeners = new CopyOnWriteArrayList<>();
  /// Held while an instance comes or goes, so that listeners learn of the one before the other.
  private final Object changing = new Object();
  private final HealthOptions options;
  private final Function<EngineAddress, Mono<Void>> probe;
  private final Scheduler timer;

  /// Learns of changes.
  public interface Listener {
    /// An instance is new.
    ///
    /// @throws IllegalStateException if there is no room for it
    default void added(Instance instance) {}

    /// An instance takes no more requests and was forgotten.
    default void removed(Instance instance) {}

    /// Another number of instances takes requests.
    default void changed() {}
  }

  /// @param probe completes when the engine is healthy
  /// @param timer the clock of probes
  public Instances(HealthOptions options, Function<EngineAddress, Mono<Void>> probe, Scheduler timer) {
    this.options = options;
    this.probe = probe;
    this.timer = timer;
  }

  public void listen(Listener listener) {
    listeners.add(listener);
  }

  /// Adds an instance, which takes requests after its first successful probe.
  ///
  /// @throws IllegalArgumentException if there is one of this name, or a listener refuses it
  public Instance add(String name, InstanceRole role, EngineAddress address) {
    Instance instance = new Instance(name, role, address, options);
    synchronized (changing) {
      begin(instance);
    }
    LOG.info("instance {} was added: {} at {}", name, role, address);
    return instance;
  }

  private void begin(Instance instance) {
    String name = instance.name();
    if (byName.putIfAbsent(name, instance) != null) {
      throw new IllegalArgumentException("name of an instance must be new (was " + name + ")");
    }
    try {
      listeners.forEach(listener -> listener.added(instance));
    } catch (IllegalStateException | IllegalArgumentException e) {
      byName.remove(name, instance);
      throw new IllegalArgumentException(e.getMessage(), e);
    }
    probes.put(name, Flux.interval(Duration.ZERO, options.interval(), timer).onBackpressureDrop()
        .concatMap(tick -> check(instance), 1).subscribe());
  }

  /// Gives an instance no new request, or gives it requests again.
  public void drain(String name, boolean drained) {
    Instance instance = get(name);
    instance.drain(drained);
    LOG.info("instance {} {}", name, drained ? "is drained" : "takes requests again");
    listeners.forEach(Listener::changed);
  }

  /// Removes an instance. Completes when the requests that run there have ended; those of others do not matter. One
  /// that is leaving already is waited for.
  public Mono<Void> remove(String name) {
    return Mono.defer(() -> {
      Instance instance;
      Mono<Void> gone;
      synchronized (changing) {
        Optional<Instance> left = byName.containsKey(name) ? Optional.empty() : leaving(name);
        if (left.isPresent()) {
          return left.get().remove();
        }
        instance = get(name);
        byName.remove(name);
        gone = instance.remove();
        leaving.add(instance);
        gone.subscribe(nothing -> {}, failure -> {}, () -> leaving.remove(instance));
        Disposable running = probes.remove(name);
        if (running != null) {
          running.dispose();
        }
        listeners.forEach(listener -> listener.removed(instance));
      }
      listeners.forEach(Listener::changed);
      LOG.info("instance {} was removed; {} requests run there", name, instance.requests());
      return gone;
    });
  }

  /// All instances by name.
  public List<Instance> all() {
    return byName.values().stream().sorted(Comparator.comparing(Instance::name)).toList();
  }

  /// Those that were removed and where requests still run, by name.
  public List<Instance> leaving() {
    return leaving.stream().sorted(Comparator.comparing(Instance::name)).toList();
  }

  private Optional<Instance> leaving(String name) {
    return leaving.stream().filter(instance -> instance.name().equals(name)).findFirst();
  }

  /// Why no instance takes requests in a role, by itself or among those that do both.
  public String whyNone(InstanceRole role) {
    List<Instance> all = byName.values().stream()
        .filter(instance -> instance.role() == role || instance.role() == InstanceRole.BOTH).toList();
    String word = role.name().toLowerCase(Locale.ROOT);
    if (all.isEmpty()) {
      return byName.isEmpty() ? "no instance is known" : "no %s instance is known".formatted(word);
    }
    return all.stream().allMatch(instance -> instance.state().equals("draining"))
        ? "all %d %s instances drain".formatted(all.size(), word)
        : "no %s instance answers".formatted(word);
  }

  /// Those that take requests, in a role.
  public List<Instance> live(InstanceRole role) {
    List<Instance> live = new ArrayList<>();
    for (Instance instance : byName.values()) {
      if (instance.role() == role && instance.isLive()) {
        live.add(instance);
      }
    }
    return live;
  }

  /// Those that answered once and are not drained, in a role: where none is live, they are better than none.
  public List<Instance> tried(InstanceRole role) {
    return byName.values().stream().filter(instance -> instance.role() == role && instance.mayBeTried()).toList();
  }

  /// Those that answer requests and take them.
  public int answering() {
    return live(InstanceRole.DECODE).size() + live(InstanceRole.BOTH).size();
  }

  /// Counts the outcome of a request as if it were a probe's.
  public void observe(Instance instance, boolean success) {
    if (instance.observe(success)) {
      LOG.info("instance {} is {}", instance.name(), success ? "up" : "down");
      listeners.forEach(Listener::changed);
    }
  }

  /// Probes no longer.
  public void close() {
    probes.values().forEach(Disposable::dispose);
    probes.clear();
  }

  private Mono<Void> check(Instance instance) {
    return Mono.defer(() -> probe.apply(instance.address())).timeout(options.timeout(), timer)
        .doOnSuccess(nothing -> observe(instance, true))
        .onErrorResume(failure -> {
          observe(instance, false);
          return Mono.empty();
        });
  }

  private Instance get(String name) {
    Instance instance = byName.get(name);
    if (instance == null) {
      throw unknown(name);
    }
    return instance;
  }

  private static IllegalArgumentException unknown(String name) {
    return new IllegalArgumentException("name must be that of an instance (was " + name + ")");
  }
}
