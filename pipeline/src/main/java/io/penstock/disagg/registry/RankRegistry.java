package io.penstock.disagg.registry;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import io.penstock.disagg.registry.InstanceView.Registered;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// The ranks that are registered, and the ranks that each request belongs to.
///
/// A rank belongs to its owner, a user or the holder of a secret: while the owner lives no other one registers it, says
/// that it lives, or that it ends. It is free when the owner has left or was silent for too long. The generations of a
/// rank move in steps: an owner [claims][#claim] the next one, and the registry remembers the last one of a rank that
/// is gone.
///
/// Registering again changes nothing but the engine that the rank names. An instance is ready when as many distinct
/// ranks have registered as its manifest states. It stops being ready when a rank is gone: the rank said so, missed
/// some heartbeats, or came back in a later generation. Ranks of one instance agree in all but rank, generation,
/// endpoint, engine and secret.
///
/// Several registries may be one: each tells the others by a [RegistryShare] which ranks it has heard, and takes what
/// they tell, so each answers for all, and a rank may say to any of them that it lives. Registries that cannot reach
/// each other go on apart, and agree again when they can; of two owners of a rank then the one of the higher generation
/// stays.
///
/// Expired entries are removed at the next call. Safe from any thread.
public final class RankRegistry {
  /// Greatest generation that a rank may name by itself. Steps lead further, so a stranger who named it once locks out
  /// no owner; all generations are exact as numbers of JSON.
  public static final long MOST_NAMED = (1L << 53) - (1L << 32);

  /// A registry alone has no use for chance.
  private static final RandomGenerator ALONE = () -> 0;

  private final RegistryOptions options;
  private final LongSupplier nanos;
  private final @Nullable RegistryShare share;
  @GuardedBy("this") private final Ranks ranks;
  @GuardedBy("this") private final Replicas replicas;

  /// Receives ranks that come and go. Called outside locks.
  @FunctionalInterface
  public interface Listener {
    /// A rank is gone: messages from this process are stale, and it sends no more.
    void gone(Incarnation who);

    /// A rank is registered that was not.
    default void registered(Registered now) {}

    /// A later start of a rank took the place of `before`: a restart, or a second process with the same settings.
    default void replaced(Registered before, Registered now) {
      gone(before.who());
    }
  }

  /// A registry alone.
  ///
  /// @param nanos clock of heartbeats and lives
  public RankRegistry(RegistryOptions options, LongSupplier nanos, Listener listener) {
    this(options, nanos, listener, null, ALONE);
  }

  /// A registry among several that tell each other what they know.
  ///
  /// @param nanos clock of heartbeats and lives
  /// @param share to the other registries
  /// @param random of the steps between generations
  public RankRegistry(RegistryOptions options, LongSupplier nanos, Listener listener, @Nullable RegistryShare share,
      RandomGenerator random) {
    this.options = requireNonNull(options, "options");
    this.nanos = requireNonNull(nanos, "nanos");
    this.share = share;
    this.ranks = new Ranks(options, requireNonNull(listener, "listener"), share, requireNonNull(random, "random"));
    this.replicas = new Replicas(options.bounds(), options.replicaLife());
  }

  public RegistryOptions options() {
    return options;
  }

  /// Claims a rank for its owner, in the generation behind the last one that is known here. The rank is to register
  /// before it counts as silent.
  ///
  /// @param least the generation is not below this one, which the rank knows of itself: an earlier start may have been
  ///     registered elsewhere. More than [#MOST_NAMED] counts as that
  /// @return the generation of the rank's next registration
  /// @throws RankTakenException if the rank has another owner, who lives
  /// @throws io.penstock.tier.TierHolds.HoldLimitException if there is no room
  public long claim(Registrant by, RankId rank, long least) {
    return answer(all -> all.claim(by, rank, least));
  }

  /// Registers a rank, or records a sign of life of a registered one. Its generation is the one that the rank has, the
  /// one that it claimed, or the next one; of a rank that is not known, any up to [#MOST_NAMED].
  ///
  /// @return its instance, with the rank
  /// @throws RankTakenException if the rank has another owner, who lives
  /// @throws RegistrationRefusedException if it differs from other ranks of its instance, if no instance of the other
  ///     side could exchange blocks with it, or if its generation is another one
  /// @throws io.penstock.tier.TierHolds.HoldLimitException if there is no room
  public InstanceView register(Registrant by, Registration registration) {
    return answer(all -> all.register(by, registration));
  }

  /// Records a heartbeat of a rank.
  ///
  /// @return false if this incarnation is not registered by `owner`: it registers again, or ends if a later one is
  ///     registered
  public boolean heartbeat(RankOwner owner, Incarnation who) {
    return answer(all -> all.heartbeat(owner, who));
  }

  /// Forgets a rank that ends.
  ///
  /// @return false, and nothing is done, if this incarnation is not registered
  /// @throws RankTakenException if the rank has another owner
  public boolean leave(RankOwner owner, Incarnation who) {
    return answer(all -> all.leave(owner, who));
  }

  /// The instance with this name.
  public Optional<InstanceView> instance(String name) {
    return answer(all -> all.instance(name));
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
    return answer(all -> all.instances(name, after, most));
  }

  /// Remembers which data-parallel replica of a prefill instance has a request.
  ///
  /// @param address of the peer that reports it
  /// @throws RegistrationRefusedException if another replica has it
  /// @throws io.penstock.tier.TierHolds.HoldLimitException if there is no room
  public void assign(Object address, String request, int replica) {
    requireReady();
    boolean isNew;
    synchronized (this) {
      isNew = replicas.assign(request, replica, address, nanos.getAsLong());
    }
    RegistryShare to = share;
    if (isNew && to != null) {
      to.assigned(request, replica);
    }
  }

  /// The data-parallel replica that has a request; empty if it is not known, or not any more.
  public OptionalInt replica(String request) {
    requireReady();
    synchronized (this) {
      return replicas.replica(request, nanos.getAsLong());
    }
  }

  /// Takes a fact that another registry told, unless a greater one is known. A fact is no sign of life.
  public void take(RankFact fact) {
    step(all -> {
      all.take(fact);
      return true;
    });
  }

  /// Takes signs of life that another registry received, just now but for their ages: its ranks are as alive here.
  /// Those whose fact is not known, or is of another generation, do not count.
  public void heard(List<SignOfLife> signs) {
    step(all -> {
      signs.forEach(all::heard);
      return true;
    });
  }

  /// Takes what another registry told of a request.
  public synchronized void take(String request, int replica) {
    replicas.take(request, replica, nanos.getAsLong());
  }

  /// Ranks that this registry has heard itself within a time, and that are not gone, the latest ones first.
  public List<SignOfLife> heardHere(Duration within) {
    return step(all -> all.heardHere(within.toNanos()));
  }

  /// The greatest fact of each rank that is known here; none of a registry alone.
  public List<RankFact> facts() {
    return step(Ranks::facts);
  }

  /// Removes expired entries; for a registry that receives no calls.
  public void expire() {
    synchronized (this) {
      replicas.expire(nanos.getAsLong());
    }
    step(all -> {
      all.tellLost();
      return true;
    });
  }

  /// @throws RegistryApartException if this registry has not joined the others
  private <T> T answer(Function<Ranks, T> step) {
    requireReady();
    return step(step);
  }

  private void requireReady() {
    if (share != null && !share.isReady()) {
      throw new RegistryApartException();
    }
  }

  /// Runs a step after expired ranks are removed. Those are reported even if the step fails.
  private <T> T step(Function<Ranks, T> step) {
    List<Runnable> calls = List.of();
    try {
      synchronized (this) {
        try {
          ranks.begin(nanos.getAsLong());
          return step.apply(ranks);
        } finally {
          calls = ranks.end();
        }
      }
    } finally {
      calls.forEach(Runnable::run);
    }
  }
}
