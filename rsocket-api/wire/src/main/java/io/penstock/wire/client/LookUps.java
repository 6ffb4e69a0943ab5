package io.penstock.wire.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.tier.Presence;
import io.penstock.wire.client.link.NodeConnection;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.Routes;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;

/// Look-ups of one connection. Small ones that are requested in one turn of its event loop go as one request: a request
/// costs both sides far more than a key. None of them waits for another: a turn ends when the loop has nothing left to
/// read. A look-up that is cancelled before leaves the queue. Safe from any thread.
final class LookUps {
  /// A look-up of more keys goes alone.
  private static final int SMALL = 32;
  /// Maximum number of keys that go together.
  private static final int MOST_KEYS = 512;

  private final NodeConnection connection;
  private final SpaceId space;
  private final int mostKeys;
  private final @Nullable Scheduler loop;
  @GuardedBy("waiting") private final Set<LookUp> waiting = new LinkedHashSet<>();
  @GuardedBy("waiting") private boolean sending;

  /// @param maxKeys maximum number of keys of a request that the node takes
  /// @param loop of the connection; null if it is unknown, and each look-up goes alone
  LookUps(NodeConnection connection, SpaceId space, int maxKeys, @Nullable Scheduler loop) {
    this.connection = connection;
    this.space = space;
    this.mostKeys = Math.min(MOST_KEYS, maxKeys);
    this.loop = loop;
  }

  /// Keys of `keys` that the node has.
  ///
  /// @param keys distinct
  Mono<Presence> of(List<BlockKey> keys) {
    Scheduler turns = loop;
    if (turns == null || keys.size() > SMALL) {
      return ask(keys).map(reply -> reply.of(keys.size()));
    }
    return Mono.from(
        subscriber -> subscriber.onSubscribe(new LookUp(keys, Operators.toCoreSubscriber(subscriber), turns)));
  }

  private Mono<Messages.Bits> ask(List<BlockKey> keys) {
    return connection.ask(Routes.EXISTS, new Messages.KeysRequest(Messages.Keys.of(space, keys)), Messages.Bits.class);
  }

  private void enter(LookUp lookUp, Scheduler turns) {
    boolean first;
    synchronized (waiting) {
      waiting.add(lookUp);
      first = !sending;
      sending = true;
    }
    if (first) {
      try {
        turns.schedule(this::send);
      } catch (RejectedExecutionException e) { // the loop has ended, and the connection with it
        send();
      }
    }
  }

  private List<LookUp> taken() {
    synchronized (waiting) {
      List<LookUp> taken = List.copyOf(waiting);
      waiting.clear();
      sending = false;
      return taken;
    }
  }

  /// Look-ups that wait for their turn.
  int waiting() {
    synchronized (waiting) {
      return waiting.size();
    }
  }

  private void send() {
    List<LookUp> together = new ArrayList<>();
    int keys = 0;
    for (LookUp next : taken()) {
      if (!together.isEmpty() && keys + next.keys.size() > mostKeys) {
        send(together);
        together = new ArrayList<>();
        keys = 0;
      }
      together.add(next);
      keys += next.keys.size();
    }
    if (!together.isEmpty()) {
      send(together);
    }
  }

  /// Asks for each key once, whichever look-ups have it.
  private void send(List<LookUp> together) {
    Map<BlockKey, Integer> positions = new LinkedHashMap<>();
    for (LookUp lookUp : together) {
      for (BlockKey key : lookUp.keys) {
        positions.putIfAbsent(key, positions.size());
      }
    }
    List<BlockKey> asked = List.copyOf(positions.keySet());
    ask(asked).map(reply -> reply.of(asked.size())).subscribe(
        found -> together.forEach(lookUp -> lookUp.found(found, positions)),
        error -> together.forEach(lookUp -> lookUp.failed(error)));
  }

  private final class LookUp implements Subscription {
    private final List<BlockKey> keys;
    private final CoreSubscriber<? super Presence> actual;
    private final Scheduler turns;
    private final AtomicBoolean asked = new AtomicBoolean();
    private final AtomicBoolean over = new AtomicBoolean();

    private LookUp(List<BlockKey> keys, CoreSubscriber<? super Presence> actual, Scheduler turns) {
      this.keys = keys;
      this.actual = actual;
      this.turns = turns;
    }

    @Override
    public void request(long n) {
      if (!asked.getAndSet(true)) {
        enter(this, turns);
      }
    }

    @Override
    public void cancel() {
      if (!over.getAndSet(true)) {
        synchronized (waiting) {
          waiting.remove(this);
        }
      }
    }

    private void found(Presence of, Map<BlockKey, Integer> positions) {
      if (over.getAndSet(true)) {
        return;
      }
      BitSet mine = new BitSet(keys.size());
      for (int i = 0; i < keys.size(); i++) {
        mine.set(i, of.get(positions.getOrDefault(keys.get(i), -1)));
      }
      tell(() -> {
        actual.onNext(Presence.of(keys.size(), mine));
        actual.onComplete();
      });
    }

    private void failed(Throwable error) {
      if (!over.getAndSet(true)) {
        tell(() -> actual.onError(error));
      }
    }

    /// Runs signals so that the failure of one reader does not reach another.
    private void tell(Runnable signals) {
      try {
        signals.run();
      } catch (RuntimeException | Error e) {
        Operators.onErrorDropped(e, actual.currentContext());
      }
    }
  }
}
