package io.penstock.wire.rank;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.disagg.registry.RankFact;
import io.penstock.disagg.registry.RankRegistry;
import io.penstock.disagg.registry.RegistryShare;
import io.penstock.disagg.registry.SignOfLife;
import io.penstock.wire.cluster.SharedTable;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;

/// Makes the registries of a cluster one, by a [SharedTable].
///
/// | Name in the table | Value | Written |
/// |---|---|---|
/// | `rank/INSTANCE/NUMBER` | the greatest fact of a rank | at once |
/// | `heard/NODE` | which ranks a registry has heard itself, and when | five times in a heartbeat |
/// | `heard/NODE/new` | those that it has heard since it wrote the other list | soon after each; one list for many |
/// | `replica/REQUEST` | the data-parallel replica of a request | at once; removed with its life |
///
/// A registry that joins reads all of it, and answers from then on. Of a registry that is gone, the others soon remove
/// what it has heard. Safe from any thread.
public final class SharedRanks implements RegistryShare {
  private static final Logger LOG = LoggerFactory.getLogger(SharedRanks.class);
  private static final String RANK = "rank/";
  private static final String HEARD = "heard/";
  private static final String REPLICA = "replica/";
  private static final String NEW = "/new";
  /// Times in a heartbeat that all signs of life are told, and that new ones are told at most.
  private static final int TELLINGS = 5;
  private static final int NEW_TELLINGS = 100;

  private final Scheduler timers;
  private final String own;
  private final AtomicBoolean isWanted = new AtomicBoolean();
  private volatile @Nullable Joined joined;
  private volatile boolean isReady;

  /// @param timers runs steps of the registry, and what is done after a while
  /// @param random of the name under which this registry tells what it has heard
  public SharedRanks(Scheduler timers, RandomGenerator random) {
    this.timers = requireNonNull(timers, "timers");
    this.own = HEARD + Long.toHexString(random.nextLong()) + Long.toHexString(random.nextLong());
  }

  /// Joins `registry`, which has this share, with the others.
  ///
  /// @return leaves them: others go on with what they know, and this one answers no caller any more
  public Disposable join(RankRegistry registry, SharedTable table) {
    Joined now = new Joined(registry, table);
    joined = now;
    now.begin();
    isReady = true;
    return now;
  }

  @Override
  public boolean isReady() {
    return isReady;
  }

  @Override
  public void changed(RankFact fact) {
    Joined now = joined;
    if (now != null) {
      now.table.put(RANK + fact.rank(), FactForm.write(fact));
    }
  }

  @Override
  public void heard() {
    Joined now = joined;
    if (now != null && !isWanted.getAndSet(true)) {
      now.tellSoon();
    }
  }

  @Override
  public void dropped(RankFact fact) {
    Joined now = joined;
    if (now != null) {
      now.table.remove(RANK + fact.rank(), FactForm.write(fact));
    }
  }

  @Override
  public void assigned(String request, int replica) {
    Joined now = joined;
    if (now != null) {
      now.assigned(new ReplicaForm(request, replica));
    }
  }

  /// The registry among the others.
  private final class Joined implements Disposable {
    private final RankRegistry registry;
    private final SharedTable table;
    private final long silenceNanos;
    private final Disposable.Composite running = Disposables.composite();
    @GuardedBy("this") private long tellings;
    @GuardedBy("this") private boolean isTold;
    @GuardedBy("this") private boolean isNewTold;
    @GuardedBy("this") private long toldNanos;
    /// What others have heard, and since when it has not changed.
    @GuardedBy("this") private final Map<String, Peer> peers = new HashMap<>();
    @GuardedBy("this") private final Queue<Assigned> assigned = new ArrayDeque<>();

    private record Peer(byte[] heard, long nanos) {}

    private record Assigned(String name, byte[] value, long endNanos) {}

    Joined(RankRegistry registry, SharedTable table) {
      this.registry = registry;
      this.table = table;
      this.silenceNanos =
          registry.options().heartbeat().multipliedBy(registry.options().misses()).toNanos();
    }

    void begin() {
      running.add(table.listen(this::changed));
      Map<String, byte[]> all = table.values();
      all.forEach((name, value) -> takeIf(RANK, name, value));
      all.forEach((name, value) -> takeIf(HEARD, name, value));
      all.forEach((name, value) -> takeIf(REPLICA, name, value));
      long each = Math.max(1, registry.options().heartbeat().toMillis() / TELLINGS);
      running.add(timers.schedulePeriodically(this::tick, each, each, TimeUnit.MILLISECONDS));
    }

    private void takeIf(String kind, String name, byte[] value) {
      if (name.startsWith(kind)) {
        take(name, value);
      }
    }

    private void changed(String name, byte @Nullable [] value) {
      if (value != null && !name.startsWith(own)) {
        try {
          timers.schedule(() -> take(name, value));
        } catch (RejectedExecutionException e) {
          LOG.debug("{} comes too late: the node is closing", name, e);
        }
      }
    }

    private void take(String name, byte[] value) {
      try {
        if (name.startsWith(RANK)) {
          registry.take(FactForm.read(value));
        } else if (name.startsWith(HEARD)) {
          take(name, value, SignsForm.read(value));
        } else {
          ReplicaForm replica = ReplicaForm.read(value);
          registry.take(replica.request(), replica.replica());
          remember(name, value);
        }
      } catch (IOException | RuntimeException e) {
        LOG.warn("what another registry tells cannot be read ({}): {}", name, e.toString());
      }
    }

    /// Takes signs of life once: their ages count from now.
    private void take(String name, byte[] value, List<SignOfLife> signs) {
      synchronized (this) {
        Peer known = peers.get(name);
        if (known != null && !SharedTable.isLater(value, known.heard())) {
          return;
        }
        peers.put(name, new Peer(value, timers.now(TimeUnit.NANOSECONDS)));
      }
      registry.heard(signs);
    }

    void tellSoon() {
      try {
        timers.schedule(this::tellNew, Math.max(1, registry.options().heartbeat().toMillis() / NEW_TELLINGS),
            TimeUnit.MILLISECONDS);
      } catch (RejectedExecutionException e) {
        LOG.debug("signs of life are not told: the node is closing", e);
      }
    }

    private void tick() {
      tell();
      long now = timers.now(TimeUnit.NANOSECONDS);
      synchronized (this) {
        peers.entrySet().removeIf(each -> {
          boolean isGone = now - each.getValue().nanos() > silenceNanos / 2;
          if (isGone) {
            table.remove(each.getKey(), each.getValue().heard());
          }
          return isGone;
        });
        while (!assigned.isEmpty() && now - assigned.element().endNanos() > 0) {
          Assigned over = assigned.remove();
          table.remove(over.name(), over.value());
        }
      }
    }

    /// Tells which ranks this registry has heard; nothing as long as there are none.
    private void tell() {
      long now = timers.now(TimeUnit.NANOSECONDS);
      List<SignOfLife> signs = registry.heardHere(Duration.ofNanos(silenceNanos));
      synchronized (this) {
        if (running.isDisposed() || (signs.isEmpty() && !isTold && !isNewTold)) {
          return;
        }
        isTold = !signs.isEmpty();
        toldNanos = now;
        table.put(own, SignsForm.write(++tellings, signs));
        if (isNewTold) { // one that joins would take these signs for new ones
          isNewTold = false;
          table.put(own + NEW, SignsForm.write(++tellings, List.of()));
        }
      }
    }

    private void tellNew() {
      isWanted.set(false);
      long since;
      synchronized (this) {
        since = isTold ? timers.now(TimeUnit.NANOSECONDS) - toldNanos : silenceNanos;
      }
      List<SignOfLife> signs = registry.heardHere(Duration.ofNanos(since));
      synchronized (this) {
        if (!running.isDisposed() && !signs.isEmpty()) {
          isNewTold = true;
          table.put(own + NEW, SignsForm.write(++tellings, signs));
        }
      }
    }

    void assigned(ReplicaForm replica) {
      String name = REPLICA + replica.request();
      byte[] value = replica.write();
      remember(name, value);
      table.put(name, value);
    }

    /// Each registry removes it at its end: the one that was told of it may be gone by then.
    private synchronized void remember(String name, byte[] value) {
      assigned.add(new Assigned(name, value,
          timers.now(TimeUnit.NANOSECONDS) + registry.options().replicaLife().toNanos()));
    }

    @Override
    public void dispose() {
      isReady = false; // what it hears from now on would reach no other
      joined = null;
      running.dispose();
    }

    @Override
    public boolean isDisposed() {
      return running.isDisposed();
    }
  }
}
