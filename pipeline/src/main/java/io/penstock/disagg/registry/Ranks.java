package io.penstock.disagg.registry;

import static java.util.Objects.requireNonNull;

import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import io.penstock.disagg.registry.InstanceView.Registered;
import io.penstock.disagg.registry.InstanceView.State;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The ranks of a registry and their owners, in steps: each begins at a time, and leaves calls of the listener behind.
/// Not safe for use by several threads.
final class Ranks {
  private final RegistryOptions options;
  private final RegistryBounds bounds;
  private final RankRegistry.Listener listener;
  private final NavigableMap<String, Instance> instances = new TreeMap<>();
  private final Shapes shapes;
  /// All registered and claimed ranks, the longest silent ones first.
  private final LinkedHashMap<RankId, Held> heard = new LinkedHashMap<>();
  private final Shares shares = new Shares();
  /// Last generations of ranks that are gone, the earliest ones first.
  private final LinkedHashMap<RankId, Long> past = new LinkedHashMap<>();
  private List<Runnable> deferred = new ArrayList<>();
  private long now;

  /// A rank that has an owner.
  private static final class Held {
    final RankId rank;
    final Registrant by;
    /// The last one that the owner claimed or registered.
    long generation;
    /// Null until the rank registers.
    @Nullable Registration registration;
    long heardNanos;

    Held(RankId rank, Registrant by) {
      this.rank = rank;
      this.by = by;
    }

    boolean is(Incarnation who) {
      return registration != null && registration.who().equals(who);
    }
  }

  private static final class Instance {
    final Registration first;
    final RankOwner owner;
    final NavigableMap<Integer, Registered> ranks = new TreeMap<>();
    /// Since when ranks are missing.
    long missingNanos;

    Instance(Registration first, RankOwner owner, long nanos) {
      this.first = first;
      this.owner = owner;
      this.missingNanos = nanos;
    }

    boolean isReady() {
      return ranks.size() == Registration.ranks(first.manifest());
    }
  }

  Ranks(RegistryOptions options, RankRegistry.Listener listener) {
    this.options = options;
    this.bounds = options.bounds();
    this.listener = listener;
    this.shapes = new Shapes(bounds.layers());
  }

  /// Begins a step: removes ranks that were silent for too long.
  void begin(long nanos) {
    now = nanos;
    long silence = options.silence().toNanos();
    while (!heard.isEmpty() && now - heard.firstEntry().getValue().heardNanos > silence) {
      remove(heard.firstEntry().getValue());
    }
  }

  /// Ends a step.
  ///
  /// @return calls of the listener, to be made outside the lock
  List<Runnable> end() {
    List<Runnable> calls = deferred;
    deferred = new ArrayList<>();
    return calls;
  }

  long claim(Registrant by, RankId rank, long least) {
    Held held = held(by.owner(), rank);
    Held claimed = held == null ? enter(by, rank) : held;
    claimed.generation = Math.max(claimed.generation + 1, Math.min(least, RankRegistry.MOST_NAMED));
    hear(claimed);
    return claimed.generation;
  }

  InstanceView register(Registrant by, Registration registration) {
    RankId rank = registration.who().rank();
    Instance known = instances.get(rank.instance());
    if (known == null) {
      Shares.require("instances", instances.size() + 1, bounds.instances());
      shapes.requireFits(registration);
    } else { // before the owner: a wrong name of an instance is told by what differs
      requireEqual(known, by.owner(), registration);
    }
    Held held = held(by.owner(), rank);
    requireGeneration(held, registration);
    Held entered = held == null ? enter(by, rank) : held;
    Instance instance = known == null ? open(by.owner(), registration) : known;
    Registration before = entered.registration;
    entered.generation = Math.max(entered.generation, registration.who().generation()); // a later one may be claimed
    entered.registration = Shapes.with(registration, instance.first.manifest());
    Registered there = registered(registration);
    instance.ranks.put(rank.rank(), there);
    hear(entered);
    if (before != null && !before.who().equals(registration.who())) {
      deferred.add(() -> listener.replaced(registered(before), there));
    } else if (before == null) {
      deferred.add(() -> listener.registered(there));
    }
    return view(rank.instance(), instance);
  }

  private static Registered registered(Registration registration) {
    return new Registered(registration.who(), registration.endpoint(), registration.engine());
  }

  private Instance open(RankOwner owner, Registration registration) {
    Instance instance = new Instance(shapes.enter(registration), owner, now);
    instances.put(registration.who().rank().instance(), instance);
    return instance;
  }

  /// The entry of a rank, if it has an owner.
  private @Nullable Held held(RankOwner owner, RankId rank) {
    Held held = heard.get(rank);
    if (held != null && !held.by.owner().equals(owner)) {
      throw new RankTakenException(rank.toString(), options.silence());
    }
    return held;
  }

  private Held enter(Registrant by, RankId rank) {
    Shares.require("ranks", heard.size() + 1, bounds.ranks());
    shares.requireRoom("ranks of one address", by.address(), bounds.addressRanks());
    shares.requireRoom("ranks of one connection", by.connection(), bounds.connectionRanks());
    Held held = new Held(rank, by);
    held.generation = past.getOrDefault(rank, 0L);
    past.remove(rank);
    heard.put(rank, held);
    shares.enter(by.address());
    shares.enter(by.connection());
    return held;
  }

  private static void requireEqual(Instance instance, RankOwner owner, Registration registration) {
    Registration known = instance.first;
    if ((owner.isUser() || instance.owner.isUser()) && !owner.equals(instance.owner)) {
      throw new RegistrationRefusedException("user", "that of the other ranks of instance "
          + registration.who().rank().instance(), "another one");
    }
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

  private void requireGeneration(@Nullable Held held, Registration registration) {
    long generation = registration.who().generation();
    if (held == null) {
      long last = past.getOrDefault(registration.who().rank(), 0L);
      requireNotBelow(last, generation);
      requireNotAbove(Math.max(last, RankRegistry.MOST_NAMED), "", generation);
    } else if (held.is(registration.who())) {
      require("endpoint", requireNonNull(held.registration).endpoint(), registration.endpoint());
    } else {
      requireNotBelow(held.generation, generation);
      requireNotAbove(held.generation + 1, ", the next one", generation);
    }
  }

  private static void requireNotBelow(long least, long generation) {
    if (generation < least) {
      throw new RegistrationRefusedException("generation", ">= " + least, generation);
    }
  }

  private static void requireNotAbove(long most, String why, long generation) {
    if (generation > most) {
      throw new RegistrationRefusedException("generation", "<= " + most + why, generation);
    }
  }

  boolean heartbeat(RankOwner owner, Incarnation who) {
    Held held = heard.get(who.rank());
    boolean known = held != null && held.is(who) && held.by.owner().equals(owner);
    if (known) {
      hear(requireNonNull(held));
    }
    return known;
  }

  boolean leave(RankOwner owner, Incarnation who) {
    Held held = held(owner, who.rank());
    boolean known = held != null && held.is(who);
    if (known) {
      remove(requireNonNull(held));
    }
    return known;
  }

  Optional<InstanceView> instance(String name) {
    return Optional.ofNullable(instances.get(name)).map(instance -> view(name, instance));
  }

  List<InstanceView> instances(@Nullable String name, @Nullable RankId after, int most) {
    List<InstanceView> views = new ArrayList<>();
    int left = most;
    for (Map.Entry<String, Instance> entry : from(name, after).entrySet()) {
      InstanceView view = view(entry.getKey(), entry.getValue(), behind(after, entry.getKey()), left);
      left -= view.ranks().size();
      if (!view.ranks().isEmpty()) {
        views.add(view);
      }
      if (left == 0) {
        break;
      }
    }
    return views;
  }

  private static int behind(@Nullable RankId after, String instance) {
    return after != null && after.instance().equals(instance) ? after.rank() : -1;
  }

  private SortedMap<String, Instance> from(@Nullable String name, @Nullable RankId after) {
    NavigableMap<String, Instance> named = name == null ? instances : instances.subMap(name, true, name, true);
    return after == null ? named : named.tailMap(after.instance(), true);
  }

  private void remove(Held held) {
    heard.remove(held.rank);
    shares.leave(held.by.address());
    shares.leave(held.by.connection());
    past.putLast(held.rank, held.generation);
    if (past.size() > bounds.ranks()) {
      past.pollFirstEntry();
    }
    Registration registration = held.registration;
    if (registration != null) {
      remove(held.rank);
      deferred.add(() -> listener.gone(registration.who()));
    }
  }

  private void remove(RankId rank) {
    Instance instance = requireNonNull(instances.get(rank.instance()), "instance");
    if (instance.isReady()) {
      instance.missingNanos = now;
    }
    instance.ranks.remove(rank.rank());
    if (instance.ranks.isEmpty()) {
      instances.remove(rank.instance());
      shapes.leave(instance.first);
    }
  }

  private void hear(Held held) {
    held.heardNanos = now;
    heard.putLast(held.rank, held);
  }

  private InstanceView view(String name, Instance instance) {
    return view(name, instance, -1, Integer.MAX_VALUE);
  }

  private InstanceView view(String name, Instance instance, int after, int most) {
    State state = instance.isReady()
        ? State.READY
        : now - instance.missingNanos > options.bootstrap().toNanos() ? State.FAILED : State.COMING;
    List<Registered> there = instance.ranks.tailMap(after, false).values().stream().limit(most).toList();
    return new InstanceView(name, instance.first.side(), instance.first.version(), instance.first.manifest(), state,
        there);
  }
}
