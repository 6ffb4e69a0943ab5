package io.penstock.disagg.registry;

import static java.util.Objects.requireNonNull;

import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import io.penstock.disagg.registry.InstanceView.Registered;
import io.penstock.disagg.registry.RankFact.State;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// The ranks of a registry and their owners, in steps: each begins at a time, and leaves calls of the listener and of
/// the share behind. Not safe for use by several threads.
final class Ranks {
  private final RegistryOptions options;
  private final RegistryBounds bounds;
  private final RankRegistry.Listener listener;
  private final Instances instances;
  private final HeardRanks heard = new HeardRanks();
  private final Shares shares = new Shares();
  /// Last generations of ranks that are gone, the earliest ones first.
  private final LinkedHashMap<RankId, Long> past = new LinkedHashMap<>();
  private final Facts facts;
  private final long silence;
  private List<Runnable> deferred = new ArrayList<>();
  private long now;

  Ranks(RegistryOptions options, RankRegistry.Listener listener, @Nullable RegistryShare share,
      RandomGenerator random) {
    this.options = options;
    this.bounds = options.bounds();
    this.listener = listener;
    this.instances = new Instances(options);
    this.silence = options.silence().toNanos();
    this.facts = new Facts(share, random, options.silence(), call -> deferred.add(call));
  }

  /// Begins a step: removes ranks that were silent for too long.
  void begin(long nanos) {
    now = nanos;
    for (Held held = heard.silent(now, silence); held != null; held = heard.silent(now, silence)) {
      remove(held);
      facts.unheard(held.rank, now);
    }
  }

  /// Ends a step.
  ///
  /// @return calls of the listener and of the share, to be made outside the lock
  List<Runnable> end() {
    List<Runnable> calls = deferred;
    deferred = new ArrayList<>();
    return calls;
  }

  long claim(Registrant by, RankId rank, long least) {
    Held held = held(by.owner(), rank);
    Held claimed = held == null ? enter(by, rank) : held;
    claimed.generation =
        Math.max(claimed.generation + facts.step(), Math.min(least, RankRegistry.MOST_NAMED));
    facts.tell(claimed);
    hear(claimed);
    return claimed.generation;
  }

  InstanceView register(Registrant by, Registration registration) {
    RankId rank = registration.who().rank();
    // Before the owner: a wrong name of an instance is told by what differs.
    instances.require(by.owner(), registration);
    Held held = held(by.owner(), rank);
    requireGeneration(held, registration);
    Held entered = held == null ? enter(by, rank) : held;
    entered.generation = Math.max(entered.generation, registration.who().generation()); // a later one may be claimed
    show(entered, registration);
    facts.tell(entered);
    hear(entered);
    return instances.view(rank.instance(), now).orElseThrow();
  }

  private void show(Held held, Registration registration) {
    Registration before = held.registration;
    Registration shown = instances.show(held.owner, registration, now);
    held.registration = shown;
    Registered there = Instances.registered(shown);
    if (before != null && !before.who().equals(registration.who())) {
      deferred.add(() -> listener.replaced(Instances.registered(before), there));
    } else if (before == null) {
      deferred.add(() -> listener.registered(there));
    }
  }

  private void hide(Held held) {
    Registration registration = held.registration;
    if (registration != null) {
      held.registration = null;
      instances.hide(held.rank, now);
      deferred.add(() -> listener.gone(registration.who()));
    }
  }

  /// The entry of a rank, if it has an owner.
  private @Nullable Held held(RankOwner owner, RankId rank) {
    Held held = heard.get(rank);
    if (held != null && !held.owner.equals(owner)) {
      throw new RankTakenException(rank.toString(), options.silence());
    }
    return held;
  }

  private Held enter(Registrant by, RankId rank) {
    Shares.require("ranks", heard.size() + 1, bounds.ranks());
    shares.requireRoom("ranks of one address", by.address(), bounds.addressRanks());
    shares.requireRoom("ranks of one connection", by.connection(), bounds.connectionRanks());
    shares.enter(by.address());
    shares.enter(by.connection());
    return enter(new Held(rank, by.owner(), by), now);
  }

  private Held enter(Held held, long nanos) {
    held.generation = past.getOrDefault(held.rank, 0L);
    past.remove(held.rank);
    heard.add(held, nanos);
    facts.heard(held.rank);
    return held;
  }

  private void requireGeneration(@Nullable Held held, Registration registration) {
    long generation = registration.who().generation();
    if (held == null) {
      long last = past.getOrDefault(registration.who().rank(), 0L);
      requireNotBelow(last, generation);
      requireNotAbove(Math.max(last, RankRegistry.MOST_NAMED), "", generation);
    } else if (held.is(registration.who())) {
      Instances.require("endpoint", requireNonNull(held.registration).endpoint(), registration.endpoint());
    } else {
      requireNotBelow(held.generation, generation);
      requireNotAbove(held.generation + facts.longestStep(), ", the next one", generation);
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
    Held held = known(owner, who, heard.get(who.rank()));
    if (held != null) {
      hear(held);
    }
    return held != null;
  }

  boolean leave(RankOwner owner, Incarnation who) {
    Held held = known(owner, who, held(owner, who.rank()));
    if (held != null) {
      remove(held);
      facts.tellFree(held.rank, held.generation, owner, State.LEFT);
    }
    return held != null;
  }

  /// The entry of a rank if this incarnation of it is registered, here or at another registry.
  private @Nullable Held known(RankOwner owner, Incarnation who, @Nullable Held held) {
    if (held != null) {
      return held.is(who) && held.owner.equals(owner) ? held : null;
    }
    RankFact fact = facts.of(who.rank());
    if (fact == null || !fact.owner().equals(owner) || fact.registration() == null
        || !fact.registration().who().equals(who)) {
      return null;
    }
    Held entered = enter(fact, now);
    return entered.is(who) ? entered : null;
  }

  Optional<InstanceView> instance(String name) {
    return instances.view(name, now);
  }

  List<InstanceView> instances(@Nullable String name, @Nullable RankId after, int most) {
    return instances.views(name, after, most, now);
  }

  private void remove(Held held) {
    heard.remove(held);
    Registrant by = held.by;
    if (by != null) {
      shares.leave(by.address());
      shares.leave(by.connection());
    }
    remember(held.rank, held.generation);
    hide(held);
  }

  private void remember(RankId rank, long generation) {
    past.putLast(rank, generation);
    if (past.size() > bounds.ranks()) {
      facts.drop(past.pollFirstEntry().getKey());
    }
  }

  private void hear(Held held) {
    heard.hear(held, now);
    held.isHeardHere = true;
    held.hereNanos = now;
    facts.heardHere();
  }

  /// Takes a fact that another registry tells. It is no sign of life.
  void take(RankFact fact) {
    Held held = heard.get(fact.rank());
    boolean isWrong = fact.state() == State.LOST && held != null && held.owner.equals(fact.owner())
        && held.generation == fact.generation();
    if (!facts.keep(fact)) {
      return;
    } else if (held != null && isWrong) {
      facts.tell(held);
    } else if (held == null) {
      remember(fact.rank(), fact.generation());
      facts.unheard(fact.rank(), now);
    } else if (fact.isFree() || !held.owner.equals(fact.owner())) {
      held.generation = Math.max(held.generation, fact.generation());
      remove(held);
      facts.unheard(fact.rank(), now);
    } else {
      update(held, fact);
    }
  }

  private Held enter(RankFact fact, long nanos) {
    Held held = enter(new Held(fact.rank(), fact.owner(), null), nanos);
    update(held, fact);
    return held;
  }

  private void update(Held held, RankFact fact) {
    held.generation = Math.max(held.generation, fact.generation());
    Registration registration = fact.registration();
    if (registration == null) {
      hide(held);
    } else if (!registration.equals(held.registration)) {
      List<RankId> inTheWay = instances.inTheWay(held.owner, registration);
      if (inTheWay == null) {
        hide(held);
      } else {
        inTheWay.forEach(rank -> hide(requireNonNull(heard.get(rank), "a rank that is shown is held")));
        show(held, registration);
        facts.shares(fact, held.registration);
      }
    }
  }

  /// Takes a sign of life that another registry received.
  void heard(SignOfLife sign) {
    RankFact fact = facts.of(sign.rank());
    if (fact == null || fact.isFree() || fact.generation() != sign.generation() || sign.ageNanos() > silence) {
      return;
    }
    long at = now - sign.ageNanos();
    Held held = heard.get(sign.rank());
    if (held == null) {
      enter(fact, at);
    } else {
      heard.hear(held, at);
      if (held.registration == null) { // the ranks that were shown instead may be gone
        update(held, fact);
      }
    }
  }

  /// Ranks that peers of this registry have said to live, within the silence after which they are gone.
  List<SignOfLife> heardHere(long withinNanos) {
    return heard.here(now, Math.min(withinNanos, silence));
  }

  List<RankFact> facts() {
    return facts.all();
  }

  /// Tells other registries which ranks no registry seems to hear.
  void tellLost() {
    facts.tellLost(now);
  }
}
