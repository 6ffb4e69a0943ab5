package io.penstock.disagg.registry;

import static java.util.Objects.requireNonNull;

import io.penstock.disagg.RankId;
import io.penstock.disagg.registry.InstanceView.Registered;
import io.penstock.disagg.registry.InstanceView.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The registered ranks of each instance. Not safe for use by several threads.
final class Instances {
  private final RegistryOptions options;
  private final RegistryBounds bounds;
  private final NavigableMap<String, Instance> byName = new TreeMap<>();
  private final Shapes shapes;

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

    boolean isOfAnotherUser(RankOwner by) {
      return (by.isUser() || owner.isUser()) && !by.equals(owner);
    }

    boolean goesWith(RankOwner by, Registration registration) {
      return !isOfAnotherUser(by) && first.side() == registration.side() && first.version() == registration.version()
          && first.manifest().equals(registration.manifest());
    }
  }

  Instances(RegistryOptions options) {
    this.options = options;
    this.bounds = options.bounds();
    this.shapes = new Shapes(bounds.layers());
  }

  /// Requires that a registration goes with the other ranks of its instance; a new instance, with those of the other
  /// side.
  void require(RankOwner owner, Registration registration) {
    Instance known = byName.get(registration.who().rank().instance());
    if (known == null) {
      Shares.require("instances", byName.size() + 1, bounds.instances());
      shapes.requireFits(registration);
    } else {
      requireEqual(known, owner, registration);
    }
  }

  private static void requireEqual(Instance instance, RankOwner owner, Registration registration) {
    Registration known = instance.first;
    if (instance.isOfAnotherUser(owner)) {
      throw new RegistrationRefusedException("user", "that of the other ranks of instance "
          + registration.who().rank().instance(), "another one");
    }
    require("side", known.side(), registration.side());
    require("version", known.version(), registration.version());
    known.manifest().difference(registration.manifest()).ifPresent(differs -> {
      throw new RegistrationRefusedException(differs.field(), differs.here(), differs.there());
    });
  }

  static void require(String field, Object wanted, Object actual) {
    if (!wanted.equals(actual)) {
      throw new RegistrationRefusedException(field, wanted, actual);
    }
  }

  /// Ranks that are to be hidden before a registration that another registry told is shown. Registries that did not
  /// know of each other may have taken ranks that do not go together: those that go with the lowest one are shown.
  ///
  /// @return null if it is not to be shown
  @Nullable List<RankId> inTheWay(RankOwner owner, Registration registration) {
    RankId rank = registration.who().rank();
    Instance instance = byName.get(rank.instance());
    if (instance == null || instance.goesWith(owner, registration)) {
      return List.of();
    }
    return instance.ranks.firstKey() < rank.rank()
        ? null
        : instance.ranks.keySet().stream().map(number -> new RankId(rank.instance(), number)).toList();
  }

  /// Shows a rank, or what it says now.
  ///
  /// @return its registration, with a manifest that is kept anyway
  Registration show(RankOwner owner, Registration registration, long now) {
    RankId rank = registration.who().rank();
    Instance instance = byName.get(rank.instance());
    if (instance == null) {
      instance = new Instance(shapes.enter(registration), owner, now);
      byName.put(rank.instance(), instance);
    }
    Registration kept = Shapes.with(registration, instance.first.manifest());
    instance.ranks.put(rank.rank(), registered(kept));
    return kept;
  }

  static Registered registered(Registration registration) {
    return new Registered(registration.who(), registration.endpoint(), registration.engine());
  }

  /// Shows a rank no more.
  void hide(RankId rank, long now) {
    Instance instance = requireNonNull(byName.get(rank.instance()), "instance");
    if (instance.isReady()) {
      instance.missingNanos = now;
    }
    instance.ranks.remove(rank.rank());
    if (instance.ranks.isEmpty()) {
      byName.remove(rank.instance());
      shapes.leave(instance.first);
    }
  }

  Optional<InstanceView> view(String name, long now) {
    return Optional.ofNullable(byName.get(name)).map(instance -> view(name, instance, -1, Integer.MAX_VALUE, now));
  }

  List<InstanceView> views(@Nullable String name, @Nullable RankId after, int most, long now) {
    List<InstanceView> views = new ArrayList<>();
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
    return views;
  }

  private static int behind(@Nullable RankId after, String instance) {
    return after != null && after.instance().equals(instance) ? after.rank() : -1;
  }

  private SortedMap<String, Instance> from(@Nullable String name, @Nullable RankId after) {
    NavigableMap<String, Instance> named = name == null ? byName : byName.subMap(name, true, name, true);
    return after == null ? named : named.tailMap(after.instance(), true);
  }

  private InstanceView view(String name, Instance instance, int after, int most, long now) {
    State state = instance.isReady()
        ? State.READY
        : now - instance.missingNanos > options.bootstrap().toNanos() ? State.FAILED : State.COMING;
    List<Registered> there = instance.ranks.tailMap(after, false).values().stream().limit(most).toList();
    return new InstanceView(name, instance.first.side(), instance.first.version(), instance.first.manifest(), state,
        there);
  }
}
