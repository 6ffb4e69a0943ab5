package io.penstock.examples.incidents.ours;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.examples.incidents.script.Words;
import io.penstock.tier.Medium;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.StoredBlock;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.function.Consumer;

import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/// A disk that answers when the schedule says. It copies and verifies bytes at that moment.
final class HandDisk implements BlockStore {
  private static final String NAME = "disk";

  private final Arena memory = Arena.ofAuto();
  private final Map<BlockKey, Bytes> stored = new HashMap<>();
  private final Queue<Waiting> waiting = new ArrayDeque<>();
  private boolean readsWait;
  private boolean putsWait;

  private record Bytes(MemorySegment segment, int[] checksums) {}

  private record Waiting(MonoSink<?> sink, Runnable work) {}

  /// From now on each read waits for [#answer] or [#fail].
  void holdReads() {
    readsWait = true;
  }

  /// From now on each put waits for [#answer] or [#fail].
  void holdPuts() {
    putsWait = true;
  }

  /// Ends the oldest operation that waits.
  void answer() {
    Waiting next = waiting.remove();
    next.work().run();
  }

  /// Ends all operations that wait, and those that they lead to.
  void answerAll() {
    while (!waiting.isEmpty()) {
      answer();
    }
  }

  void fail(Throwable why) {
    waiting.remove().sink().error(why);
  }

  /// Flips a bit of a stored block.
  void damage(BlockKey key) {
    Bytes bytes = stored.get(key);
    if (bytes == null) {
      throw new IllegalStateException("block must be on the disk to be damaged (was not)");
    }
    byte first = bytes.segment().get(ValueLayout.JAVA_BYTE, 0);
    bytes.segment().set(ValueLayout.JAVA_BYTE, 0, (byte) (first ^ 1));
  }

  private <T> Mono<T> operation(boolean waits, Consumer<MonoSink<T>> work) {
    return Mono.create(sink -> {
      Runnable run = () -> {
        try {
          work.accept(sink);
        } catch (RuntimeException e) {
          sink.error(e);
        }
      };
      if (waits) {
        waiting.add(new Waiting(sink, run));
      } else {
        run.run();
      }
    });
  }

  @Override
  public Mono<List<StoredBlock>> put(List<Block> blocks) {
    return operation(putsWait, sink -> {
      blocks.forEach(this::keep);
      sink.success(blocks.stream().<StoredBlock>map(block -> new OnDisk(block.key())).toList());
    });
  }

  private void keep(Block block) {
    block.verify(NAME);
    int[] checksums = new int[block.layout().granules()];
    for (int granule = 0; granule < checksums.length; granule++) {
      checksums[granule] = block.checksum(granule);
    }
    MemorySegment copy = memory.allocate(block.layout().blockBytes());
    block.read(bytes -> copy.copyFrom(bytes));
    stored.put(block.key(), new Bytes(copy, checksums));
  }

  @Override
  public Mono<Void> read(List<? extends StoredBlock> blocks, List<BlockDraft> drafts, GranuleRange range) {
    return operation(readsWait, sink -> {
      for (int i = 0; i < drafts.size(); i++) {
        copy(blocks.get(i).key(), drafts.get(i), range);
      }
      sink.success();
    });
  }

  private void copy(BlockKey key, BlockDraft draft, GranuleRange range) {
    Bytes bytes = stored.get(key);
    if (bytes == null) {
      throw new IllegalStateException("block must be on the disk to be read (was not)");
    }
    draft.write(range,
        to -> to.copyFrom(bytes.segment().asSlice(range.offset(draft.layout()), to.byteSize())));
    int[] expected = new int[range.count()];
    System.arraycopy(bytes.checksums(), range.first(), expected, 0, expected.length);
    draft.verify(range, expected, NAME);
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Medium medium() {
    return Medium.DISK;
  }

  @Override
  public CacheSpace space() {
    return Words.SPACE;
  }

  @Override
  public Durability durability() {
    return Durability.WRITTEN;
  }

  @Override
  public long capacityBlocks() {
    return Long.MAX_VALUE;
  }

  @Override
  public List<StoredBlock> recovered() {
    return List.of();
  }

  @Override
  public Mono<Void> close() {
    return Mono.empty();
  }

  private static final class OnDisk extends StoredBlock {
    OnDisk(BlockKey key) {
      super(key);
    }

    @Override
    protected void free() {
      // The bytes stay: a key means the same bytes for ever
    }
  }
}
