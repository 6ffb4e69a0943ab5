package io.penstock.stack;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.IncompleteBlockException;
import io.penstock.stack.StackCall.Kind;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.Linearisability.Timed;
import io.penstock.testkit.Race;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import reactor.core.publisher.Mono;

/// A few clients that call a tier at the same moment about the same few keys, and the history of their calls. The seed
/// gives the calls of each client; the machine gives their order.
final class StackRace {
  static final int CLIENTS = 3;
  private static final int STEPS = 4;
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final BlockTier tier;
  private final int keys;
  private final boolean exact;

  /// @param keys number of keys that the clients call about
  StackRace(BlockTier tier, int keys, boolean exact) {
    this.tier = tier;
    this.keys = keys;
    this.exact = exact;
  }

  /// Runs the clients of `seed`; then asks once for all keys.
  ///
  /// @param race of [#CLIENTS] contenders
  List<Timed<StackCall>> run(Race race, long seed) {
    AtomicInteger ready = new AtomicInteger(CLIENTS);
    List<Client> clients = IntStream.rangeClosed(0, CLIENTS).mapToObj(id -> new Client(id, seed)).toList();
    race.run(clients.stream().limit(CLIENTS).<Runnable>map(client -> () -> client.run(ready))
        .toArray(Runnable[]::new));
    clients.getLast().contains(IntStream.range(0, keys).boxed().toList());
    return clients.stream().flatMap(client -> client.calls.stream()).toList();
  }

  /// Whether a call of one client began before one of another client had ended.
  static boolean isContended(List<Timed<StackCall>> history) {
    return history.stream().anyMatch(one -> history.stream().anyMatch(other -> one.call().client() != other.call()
        .client() && one.invoked() < other.returned() && other.invoked() < one.returned()));
  }

  private final class Client {
    private final int id;
    private final Random random;
    private final List<Timed<StackCall>> calls = new ArrayList<>();

    Client(int id, long seed) {
      this.id = id;
      this.random = new Random(seed * CLIENTS + id);
    }

    void run(AtomicInteger ready) {
      ready.decrementAndGet();
      while (ready.get() > 0) {
        Thread.onSpinWait();
        Thread.yield();
      }
      for (int i = 0; i < STEPS; i++) {
        step(someKeys());
        pause();
      }
    }

    private void step(List<Integer> wanted) {
      switch (random.nextInt(10)) {
        case 0, 1, 2 -> put(wanted);
        case 3, 4 -> read(wanted);
        case 5 -> admit(wanted);
        case 6 -> remove(wanted);
        case 7 -> match(wanted);
        default -> contains(wanted);
      }
    }

    private List<Integer> someKeys() {
      List<Integer> all = new ArrayList<>(IntStream.range(0, keys).boxed().toList());
      Collections.shuffle(all, random);
      return List.copyOf(all.subList(0, 1 + random.nextInt(2)));
    }

    /// Lets another client go on, now and then.
    private void pause() {
      if (random.nextInt(3) == 0) {
        Thread.yield();
      }
    }

    // Calls

    private void put(List<Integer> wanted) {
      try (BlockScope scope = new BlockScope()) {
        long invoked = System.nanoTime();
        Reservation reservation = value(tier.reserve(blockKeys(wanted), scope));
        Presence skipped = reservation.skipped();
        List<Integer> granted = IntStream.range(0, wanted.size()).filter(i -> !skipped.get(i)).mapToObj(wanted::get)
            .toList();
        record(call(Kind.RESERVE, wanted, i -> !skipped.get(i)), invoked);
        pause();
        if (random.nextInt(4) == 0) {
          contains(wanted);
        }
        if (random.nextInt(6) > 0) {
          commit(reservation, granted);
        } else {
          invoked = System.nanoTime();
          reservation.close();
          record(call(Kind.REVOKE, granted, i -> true), invoked);
        }
      }
    }

    private void commit(Reservation reservation, List<Integer> granted) {
      List<BlockDraft> drafts = reservation.drafts();
      drafts.forEach(Blocks::produce);
      long invoked = System.nanoTime();
      List<Receipt> receipts = value(reservation.commit(drafts));
      record(call(Kind.COMMIT, granted, i -> true), invoked);
      if (!receipts.stream().map(Receipt::key).toList().equals(blockKeys(granted))) {
        throw new AssertionError("receipts must be of " + granted + " (was " + receipts + ")");
      }
    }

    private void read(List<Integer> wanted) {
      try (BlockScope scope = new BlockScope()) {
        Lease lease = lease(Kind.LEASE, wanted, OnMiss.SKIP, scope);
        pause();
        List<Integer> read = new ArrayList<>();
        for (LeasedBlock block : blocks(lease, scope)) {
          Blocks.assertBytes(block.block());
          if (!block.block().key().equals(key(wanted.get(block.position())))) {
            throw new AssertionError("block must be of key " + wanted.get(block.position()) + " (was " + block + ")");
          }
          read.add(block.position());
        }
        if (exact && !read.equals(lease.found().bits().stream().boxed().toList())) {
          throw new AssertionError("positions read must be those found, " + lease.found().bits() + " (was " + read
              + ")");
        }
      }
    }

    private List<LeasedBlock> blocks(Lease lease, BlockScope scope) {
      Mono<List<LeasedBlock>> blocks = lease.windows(1, scope).flatMapIterable(window -> window).collectList();
      return exact ? value(blocks) : value(blocks.onErrorReturn(IncompleteBlockException.class, List.of()));
    }

    private void admit(List<Integer> wanted) {
      try (BlockScope scope = new BlockScope()) {
        Lease lease = lease(Kind.ADMIT, wanted, OnMiss.ADMIT, scope);
        List<Integer> admitted = lease.admitted().bits().stream().mapToObj(wanted::get).toList();
        pause();
        if (!admitted.isEmpty() && random.nextInt(4) > 0) {
          put(admitted);
        }
        long invoked = System.nanoTime();
        lease.close();
        record(call(Kind.END, admitted, i -> true), invoked);
      }
    }

    private Lease lease(Kind kind, List<Integer> wanted, OnMiss onMiss, BlockScope scope) {
      long invoked = System.nanoTime();
      Lease lease = value(tier.lease(blockKeys(wanted), onMiss, scope));
      record(new StackCall(kind, wanted, bits(lease.found()), bits(lease.hits()), bits(lease.awaited()),
          bits(lease.admitted()), id), invoked);
      return lease;
    }

    private void remove(List<Integer> wanted) {
      long invoked = System.nanoTime();
      Presence removed = value(tier.remove(blockKeys(wanted)));
      record(call(Kind.REMOVE, wanted, removed::get), invoked);
    }

    void contains(List<Integer> wanted) {
      long invoked = System.nanoTime();
      Presence present = value(tier.contains(blockKeys(wanted)));
      record(call(Kind.CONTAINS, wanted, present::get), invoked);
    }

    private void match(List<Integer> wanted) {
      long invoked = System.nanoTime();
      int prefix = value(tier.match(blockKeys(wanted)));
      record(call(Kind.MATCH, wanted, i -> i < prefix), invoked);
    }

    // Recording

    private void record(StackCall call, long invoked) {
      calls.add(new Timed<>(call, invoked, System.nanoTime()));
    }

    private StackCall call(Kind kind, List<Integer> wanted, IntPredicate found) {
      BitSet bits = new BitSet();
      IntStream.range(0, wanted.size()).filter(found).forEach(bits::set);
      return StackCall.of(kind, wanted, bits(Presence.of(wanted.size(), bits)), id);
    }
  }

  private static int bits(Presence presence) {
    int bits = 0;
    for (int i = 0; i < presence.size(); i++) {
      bits |= presence.get(i) ? 1 << i : 0;
    }
    return bits;
  }

  private BlockKey key(int number) {
    return Blocks.key(tier.info().space(), number);
  }

  private List<BlockKey> blockKeys(List<Integer> numbers) {
    return numbers.stream().map(this::key).toList();
  }

  static <T> T value(Mono<T> answer) {
    try {
      return requireNonNull(answer.toFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
    } catch (ExecutionException e) {
      throw new AssertionError("a call must succeed", e.getCause());
    } catch (InterruptedException | TimeoutException e) {
      throw new AssertionError("a call must end within " + PATIENCE, e);
    }
  }
}
