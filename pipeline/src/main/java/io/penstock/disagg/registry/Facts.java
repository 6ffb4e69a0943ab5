package io.penstock.disagg.registry;

import io.penstock.disagg.RankId;
import io.penstock.disagg.registry.RankFact.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// The greatest fact of each rank that the registries of a cluster have told each other. A registry alone has none. Not
/// safe for use by several threads.
final class Facts {
  /// Generations that one claim passes over at most: registries that claim a rank at once, before they know of each
  /// other, give different ones.
  private static final int LONGEST_STEP = 1 << 12;
  /// Silences after which a rank that no registry hears is told to be lost.
  private static final int LOST_AFTER = 10;

  private final @Nullable RegistryShare share;
  private final RandomGenerator random;
  private final long teller;
  private final long lostNanos;
  private final Consumer<Runnable> later;
  private final Map<RankId, RankFact> greatest = new LinkedHashMap<>();
  /// Since when ranks that have an owner are not heard here, the longest silent ones first.
  private final LinkedHashMap<RankId, Long> unheard = new LinkedHashMap<>();

  /// @param share null for a registry alone
  /// @param random of the steps of claims, and of the number of this registry
  /// @param silence after which a rank is gone
  /// @param later takes calls of `share`
  Facts(@Nullable RegistryShare share, RandomGenerator random, Duration silence, Consumer<Runnable> later) {
    this.share = share;
    this.random = random;
    this.teller = random.nextLong() >>> 1;
    this.lostNanos = silence.multipliedBy(LOST_AFTER).toNanos();
    this.later = later;
  }

  /// Generations from the last one to the next one that is claimed.
  long step() {
    return share == null ? 1 : 1 + random.nextInt(LONGEST_STEP);
  }

  /// The most that [#step()] may be: another registry may have given a generation that is not known here.
  long longestStep() {
    return share == null ? 1 : LONGEST_STEP;
  }

  @Nullable RankFact of(RankId rank) {
    return greatest.get(rank);
  }

  List<RankFact> all() {
    return List.copyOf(greatest.values());
  }

  /// Keeps a fact if it is greater than the one that is known.
  ///
  /// @return whether it is
  boolean keep(RankFact fact) {
    RankFact known = greatest.get(fact.rank());
    boolean isNews = share != null && (known == null || known.compareTo(fact) < 0);
    if (isNews) {
      greatest.put(fact.rank(), fact);
    }
    return isNews;
  }

  /// Keeps a fact with an equal registration that is kept anyway: manifests may be large.
  void shares(RankFact fact, @Nullable Registration kept) {
    greatest.put(fact.rank(), new RankFact(fact.rank(), fact.generation(), fact.edition(), fact.teller(), fact.owner(),
        fact.state(), kept));
  }

  /// Tells the others what is known here of a rank, if they have not been told.
  void tell(Held held) {
    tell(held.rank, held.generation, held.owner, State.OWNED, held.registration);
  }

  /// Tells the others that a rank is free.
  void tellFree(RankId rank, long generation, RankOwner owner, State state) {
    unheard.remove(rank);
    tell(rank, generation, owner, state, null);
  }

  private void tell(RankId rank, long generation, RankOwner owner, State state, @Nullable Registration registration) {
    RegistryShare to = share;
    if (to == null) {
      return;
    }
    RankFact known = greatest.get(rank);
    RankFact fact =
        new RankFact(rank, generation, known == null ? 0 : known.edition() + 1, teller, owner, state, registration);
    if (known == null || !known.saysAs(fact)) {
      greatest.put(rank, fact);
      later.accept(() -> to.changed(fact));
    }
  }

  /// A rank is not heard any more.
  void unheard(RankId rank, long now) {
    RankFact fact = greatest.get(rank);
    if (fact != null && !fact.isFree()) {
      unheard.putLast(rank, now);
    }
  }

  void heard(RankId rank) {
    unheard.remove(rank);
  }

  /// Tells the others that a rank was heard here.
  void heardHere() {
    RegistryShare to = share;
    if (to != null) {
      later.accept(to::heard);
    }
  }

  /// Tells the others which ranks have not been heard here for long.
  void tellLost(long now) {
    List<RankFact> lost = new ArrayList<>();
    while (!unheard.isEmpty() && now - unheard.firstEntry().getValue() > lostNanos) {
      RankFact fact = greatest.get(unheard.pollFirstEntry().getKey());
      if (fact != null && !fact.isFree()) {
        lost.add(fact);
      }
    }
    lost.forEach(fact -> tellFree(fact.rank(), fact.generation(), fact.owner(), State.LOST));
  }

  /// Forgets a rank that is not heard.
  void drop(RankId rank) {
    unheard.remove(rank);
    RankFact fact = greatest.remove(rank);
    RegistryShare to = share;
    if (fact != null && to != null) {
      later.accept(() -> to.dropped(fact));
    }
  }
}
