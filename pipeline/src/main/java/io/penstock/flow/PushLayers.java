package io.penstock.flow;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.PrefixHasher;
import io.penstock.check.Checks;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.spi.ForwardingTier;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Scheduler;

/// The prefill side of a push: gives the layers of requests that are being computed to the readers that asked for them,
/// each as soon as it is ready. Beside that it is the tier of the finished blocks.
///
/// A reader asks with the keys of [#keys], before or after the request begins here. No byte is read before its ready
/// signal. Layers leave in order in each chunk of the prompt, chunks in order, and the stream ends after the last: that
/// is the terminal marker. Bytes move when their reader has credit: a reader that stalls keeps its own slice waiting
/// and no thread.
///
/// Safe from any thread.
public final class PushLayers extends ForwardingTier {
  /// First half of the keys of requests: no content hash but by chance of 1 in 2⁶⁴ a key.
  private static final long PUSHED = 0x50454E5350555348L; // "PENSPUSH"

  private final CacheSpace space;
  private final List<Scheduler> shards;
  @GuardedBy("this") private final Map<BlockKey, Production> productions = new HashMap<>();
  /// Readers that asked before their request began, by its first key.
  @GuardedBy("this") private final Map<BlockKey, Set<MonoSink<Production>>> early = new HashMap<>();

  /// @param blocks the finished blocks of this rank
  /// @param shards each packs and sends the slices of its requests one after another; at least one
  public PushLayers(BlockTier blocks, List<Scheduler> shards) {
    super(blocks);
    this.space = blocks.info().space();
    this.shards = List.copyOf(shards);
    if (shards.isEmpty()) {
      throw new IllegalArgumentException("shards must not be empty");
    }
  }

  /// Keys of the blocks of a request that is being computed, on a rank with blocks of `space`: both sides know them
  /// before the content.
  ///
  /// @param request id, unique while the request lives
  public static List<BlockKey> keys(CacheSpace space, String request, int blocks) {
    BlockHash name = PrefixHasher.ofName(request);
    return IntStream.range(0, blocks).mapToObj(i -> key(space, name, i)).toList();
  }

  private static BlockKey key(CacheSpace space, BlockHash name, int block) {
    return space.key(new BlockHash(PUSHED, PrefixHasher.ofPart(name, BlockHash.ROOT, block).low()));
  }

  /// Begins a request: from now on its readers wait for its chunks.
  ///
  /// @param request id
  /// @param blocks how many this rank computes for it
  /// @param spans lends the bytes of these blocks, once they are ready
  /// @throws IllegalStateException if the request has begun and was not closed
  public Production begin(String request, int blocks, Production.Spans spans) {
    List<BlockKey> keys = keys(space, request, Checks.positive("blocks", blocks));
    Production production =
        new Production(keys, spans, space.layout(), shards.get(Math.floorMod(request.hashCode(), shards.size())),
            () -> forget(keys));
    Set<MonoSink<Production>> waiting = new HashSet<>();
    synchronized (this) {
      if (!Collections.disjoint(keys, productions.keySet())) {
        throw new IllegalStateException("request " + request + " has already begun");
      }
      for (BlockKey key : keys) {
        productions.put(key, production);
        waiting.addAll(early.getOrDefault(key, Set.of()));
      }
    }
    waiting.forEach(sink -> sink.success(production));
    return production;
  }

  private synchronized void forget(List<BlockKey> keys) {
    keys.forEach(productions::remove);
  }

  /// Readers that wait for their request to begin.
  public synchronized int waiting() {
    return early.values().stream().mapToInt(Set::size).sum();
  }

  @Override
  public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
    boolean pushed = onMiss == OnMiss.AWAIT && !keys.isEmpty() && keys.getFirst().hash().high() == PUSHED;
    return pushed ? Mono.fromSupplier(() -> scope.adopt(pushed(keys))) : super.lease(keys, onMiss, scope);
  }

  private Lease pushed(List<BlockKey> keys) {
    List<BlockKey> asked = BlockKey.distinct(keys, space.id());
    BitSet all = new BitSet();
    all.set(0, asked.size());
    return new PushLease(asked, Presence.of(asked.size(), all), production(asked.getFirst()));
  }

  private Mono<Production> production(BlockKey first) {
    return Mono.create(sink -> {
      Production begun;
      synchronized (this) {
        begun = productions.get(first);
        if (begun == null) {
          early.computeIfAbsent(first, key -> new HashSet<>()).add(sink);
        }
      }
      if (begun != null) {
        sink.success(begun);
      } else {
        sink.onDispose(() -> leave(first, sink));
      }
    });
  }

  private synchronized void leave(BlockKey first, MonoSink<Production> sink) {
    Set<MonoSink<Production>> waiting = early.get(first);
    if (waiting != null && waiting.remove(sink) && waiting.isEmpty()) {
      early.remove(first);
    }
  }
}
