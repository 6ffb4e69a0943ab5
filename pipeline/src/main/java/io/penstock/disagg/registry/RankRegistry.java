package io.penstock.disagg.registry;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Planner;
import io.penstock.disagg.registry.InstanceView.Registered;
import io.penstock.disagg.registry.InstanceView.State;
import io.penstock.disagg.registry.Registration.Side;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// The ranks that are registered, and the ranks that each request belongs to.
///
/// Registering again changes nothing. An instance is ready when as many distinct ranks have registered as its manifest
/// states. It stops being ready when a rank is gone: the rank said so, missed some heartbeats, or came back in a later
/// generation. Ranks of one instance agree in all but rank, generation and endpoint.
///
/// Expired entries are removed at the next call. Safe from any thread.
public final class RankRegistry {
  private final RegistryOptions options;
  private final LongSupplier nanos;
  private final Listener listener;

  @GuardedBy("this") private final NavigableMap<String, Instance> instances = new TreeMap<>();
  /// Data-parallel replicas by request, oldest entries first.
  @GuardedBy("this") private final Map<String, Assigned> replicas = new LinkedHashMap<>();
  /// All ranks, the longest silent ones first.
  @GuardedBy("this") private final LinkedHashMap<RankId, Present> heard = new LinkedHashMap<>();

  /// Receives ranks that are gone. Called outside locks.
  @FunctionalInterface
  public interface Listener {
    /// A rank is gone: messages from this process are stale, and it sends no more.
    void gone(Incarnation who);

    /// A later start of a rank took the place of `before`: a restart, or a second process with the same settings.
    default void replaced(Registered before, Registered now) {
      gone(before.who());
    }
  }

  private record Assigned(int replica, long endNanos) {}

  private static final class Present {
    final Registration registration;
    long heardNanos;

    Present(Registration registration) {
      this.registration = registration;
    }

    Registered registered() {
      return new Registered(registration.who(), registration.endpoint());
    }
  }

  private static final class Instance {
    final Registration first;
    final NavigableMap<Integer, Present> ranks = new TreeMap<>();
    /// Since when ranks are missing.
    long missingNanos;

    Instance(Registration first, long nanos) {
      this.first = first;
      this.missingNanos = nanos;
    }

    boolean isReady() {
      return ranks.size() == Registration.ranks(first.manifest());
    }
  }

  /// @param nanos clock of heartbeats and lives
  public RankRegistry(RegistryOptions options, LongSupplier nanos, Listener listener) {
    this.options = requireNonNull(options, "options");
    this.nanos = requireNonNull(nanos, "nanos");
    this.listener = requireNonNull(listener, "listener");
  }

  public RegistryOptions options() {
    return options;
  }

  /// Registers a rank, or records a sign of life of a registered one.
  ///
  /// @return its instance, with the rank
  /// @throws RegistrationRefusedException if it differs from other ranks of its instance, if no instance of the other
  ///     side could exchange blocks with it, if a later generation of the rank is registered, or if there is no room
  public InstanceView register(Registration registration) {
    List<Runnable> deferred = new ArrayList<>();
    try {
      synchronized (this) {
        return register(registration, expire(deferred), deferred);
      }
    } finally { // those that expired are gone also if this one is refused
      deferred.forEach(Runnable::run);
    }
  }

  @GuardedBy("this") private InstanceView register(Registration registration, long now, List<Runnable> deferred) {
    String name = registration.who().rank().instance();
    Instance known = instances.get(name);
    if (known == null) {
      requireFits(registration);
    } else {
      requireEqual(known.first, registration);
    }
    Registration shared = sharing(registration);
    Instance instance = known == null ? new Instance(shared, now) : known;
    int rank = registration.who().rank().rank();
    Present before = instance.ranks.get(rank);
    if (before != null) {
      requireNotOlder(before.registration, registration);
    } else if (heard.size() == options.mostRanks()) {
      throw new RegistrationRefusedException("ranks", "<= " + options.mostRanks(), heard.size() + 1);
    }
    Present present = new Present(shared);
    instances.putIfAbsent(name, instance);
    instance.ranks.put(rank, present);
    hear(present, now);
    if (before != null && !before.registration.who().equals(registration.who())) {
      Registered old = before.registered();
      deferred.add(() -> listener.replaced(old, present.registered()));
    }
    return view(name, instance, now);
  }

  /// Replaces the manifest by an equal one of another rank, because manifests may be large.
  @GuardedBy("this") private Registration sharing(Registration registration) {
    Manifest shared = instances.values().stream().map(instance -> instance.first.manifest())
        .filter(registration.manifest()::equals).findFirst().orElse(registration.manifest());
    return new Registration(registration.side(), registration.who(), registration.version(), shared,
        registration.endpoint());
  }

  private static void requireEqual(Registration known, Registration registration) {
    require("side", known.side(), registration.side());
    require("version", known.version(), registration.version());
    known.manifest().difference(registration.manifest()).ifPresent(differs -> {
      throw new RegistrationRefusedException(differs.field(), differs.here(), differs.there());
    });
  }

  private static void require(String field, Object wanted, Object actual) {
    if (!wanted.equals(actual)) {
      throw new RegistrationRefusedException(field, wanted, actual);
    }
  }

  private static void requireNotOlder(Registration known, Registration registration) {
    if (registration.who().generation() < known.who().generation()) {
      throw new RegistrationRefusedException("generation", ">= " + known.who().generation(),
          registration.who().generation());
    } else if (registration.who().equals(known.who())) {
      require("endpoint", known.endpoint(), registration.endpoint());
    }
  }

  /// Requires that instances of both sides of a model can exchange blocks.
  @GuardedBy("this") private void requireFits(Registration registration) {
    for (Instance other : instances.values()) {
      Registration there = other.first;
      if (there.side() != registration.side() && there.manifest().model().equals(registration.manifest().model())) {
        require("version", there.version(), registration.version());
        boolean isPrefill = registration.side() == Side.PREFILL;
        var _ = new Planner(isPrefill ? registration.manifest() : there.manifest(),
            isPrefill ? there.manifest() : registration.manifest());
      }
    }
  }

  /// Records a heartbeat of a rank.
  ///
  /// @return false if this incarnation is not registered: it registers again, or ends if a later one is registered
  public boolean heartbeat(Incarnation who) {
    List<Runnable> deferred = new ArrayList<>();
    boolean known;
    synchronized (this) {
      long now = expire(deferred);
      Present present = present(who);
      known = present != null;
      if (present != null) {
        hear(present, now);
      }
    }
    deferred.forEach(Runnable::run);
    return known;
  }

  /// Forgets a rank that ends; does nothing if this incarnation is not registered.
  public void leave(Incarnation who) {
    List<Runnable> deferred = new ArrayList<>();
    synchronized (this) {
      long now = expire(deferred);
      if (present(who) != null) {
        remove(who, now, deferred);
      }
    }
    deferred.forEach(Runnable::run);
  }

  @GuardedBy("this") private @Nullable Present present(Incarnation who) {
    Present present = heard.get(who.rank());
    return present != null && present.registration.who().equals(who) ? present : null;
  }

  /// The instance with this name.
  public Optional<InstanceView> instance(String name) {
    List<Runnable> deferred = new ArrayList<>();
    Optional<InstanceView> view;
    synchronized (this) {
      long now = expire(deferred);
      view = Optional.ofNullable(instances.get(name)).map(instance -> view(name, instance, now));
    }
    deferred.forEach(Runnable::run);
    return view;
  }

  /// All instances, by name.
  public List<InstanceView> instances() {
    return instances(null, null, Integer.MAX_VALUE);
  }

  /// Instances by name with their ranks behind `after`, of which there are `most` together. If there are so many, the
  /// last instance may have further ranks, and others follow.
  ///
  /// @param name of the only instance to show; null for all
  /// @param after null to begin with the first rank
  public List<InstanceView> instances(@Nullable String name, @Nullable RankId after, int most) {
    List<Runnable> deferred = new ArrayList<>();
    List<InstanceView> views = new ArrayList<>();
    synchronized (this) {
      long now = expire(deferred);
      int left = most;
      for (Map.Entry<String, Instance> entry : from(name, after).entrySet()) {
        InstanceView view = view(entry.getKey(), entry.getValue(), behind(after, entry.getKey()), left, now);
        left -= view.ranks().size();
        if (!view.ranks().isEmpty()) {
          views.add(view);
        }
        if (left == 0) {
          break;
        }
      }
    }
    deferred.forEach(Runnable::run);
    return views;
  }

  private static int behind(@Nullable RankId after, String instance) {
    return after != null && after.instance().equals(instance) ? after.rank() : -1;
  }

  @GuardedBy("this") private SortedMap<String, Instance> from(@Nullable String name, @Nullable RankId after) {
    NavigableMap<String, Instance> named = name == null ? instances : instances.subMap(name, true, name, true);
    return after == null ? named : named.tailMap(after.instance(), true);
  }

  /// Remembers which data-parallel replica of a prefill instance has a request.
  ///
  /// @throws RegistrationRefusedException if another replica has it, or there is no room
  public synchronized void assign(String request, int replica) {
    long now = nanos.getAsLong();
    expireReplicas(now);
    Assigned known = replicas.get(request);
    if (known != null) {
      require("replica", known.replica(), replica);
    } else if (replicas.size() == options.mostRequests()) {
      throw new RegistrationRefusedException("requests", "<= " + options.mostRequests(), replicas.size() + 1);
    } else {
      replicas.put(request, new Assigned(replica, now + options.replicaLife().toNanos()));
    }
  }

  /// The data-parallel replica that has a request; empty if it is not known, or not any more.
  public synchronized OptionalInt replica(String request) {
    expireReplicas(nanos.getAsLong());
    Assigned known = replicas.get(request);
    return known == null ? OptionalInt.empty() : OptionalInt.of(known.replica());
  }

  /// Entries live equally long, so the oldest one expires first.
  @GuardedBy("this") private void expireReplicas(long now) {
    Iterator<Assigned> oldest = replicas.values().iterator();
    while (oldest.hasNext() && oldest.next().endNanos() - now <= 0) {
      oldest.remove();
    }
  }

  /// Removes expired entries; for a registry that receives no calls.
  public void expire() {
    List<Runnable> deferred = new ArrayList<>();
    synchronized (this) {
      expireReplicas(expire(deferred));
    }
    deferred.forEach(Runnable::run);
  }

  @GuardedBy("this") private long expire(List<Runnable> deferred) {
    long now = nanos.getAsLong();
    long silence = options.silence().toNanos();
    while (!heard.isEmpty() && now - heard.firstEntry().getValue().heardNanos > silence) {
      remove(heard.firstEntry().getValue().registration.who(), now, deferred);
    }
    return now;
  }

  @GuardedBy("this") private void remove(Incarnation who, long now, List<Runnable> deferred) {
    Instance instance = requireNonNull(instances.get(who.rank().instance()), "instance");
    if (instance.isReady()) {
      instance.missingNanos = now;
    }
    heard.remove(who.rank());
    instance.ranks.remove(who.rank().rank());
    if (instance.ranks.isEmpty()) {
      instances.remove(who.rank().instance());
    }
    deferred.add(() -> listener.gone(who));
  }

  @GuardedBy("this") private void hear(Present present, long now) {
    present.heardNanos = now;
    heard.putLast(present.registration.who().rank(), present);
  }

  private InstanceView view(String name, Instance instance, long now) {
    return view(name, instance, -1, Integer.MAX_VALUE, now);
  }

  private InstanceView view(String name, Instance instance, int after, int most, long now) {
    State state = instance.isReady()
        ? State.READY
        : now - instance.missingNanos > options.bootstrap().toNanos() ? State.FAILED : State.COMING;
    List<Registered> there = instance.ranks.tailMap(after, false).values().stream().limit(most)
        .map(Present::registered).toList();
    return new InstanceView(name, instance.first.side(), instance.first.version(), instance.first.manifest(), state,
        there);
  }
}
