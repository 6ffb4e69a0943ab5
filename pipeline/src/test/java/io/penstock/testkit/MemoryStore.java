package io.penstock.testkit;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.TransientKvException;
import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.operator.Handover;
import io.penstock.tier.Medium;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.BlockStore.Evictor;
import io.penstock.tier.spi.StoredBlock;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// A store in memory whose copies run when its executor wants: at once, on another thread, or in the order of a seed.
public final class MemoryStore implements BlockStore {
  private final String name;
  private final Medium medium;
  private final CacheSpace space;
  private final long capacityBlocks;
  private final Executor executor;
  private final Set<Copied> kept = new LinkedHashSet<>();
  /// Those that have a number instead of a `StoredBlock`.
  private final Map<Integer, Copied> numbered = new HashMap<>();
  private int lastNumber = -1;
  private final Sinks.Empty<Void> ended = Sinks.empty();
  private long underWay;
  private List<StoredBlock> recovered = List.of();
  private boolean closed;
  private Evictor shortage = blocks -> 0;

  /// @param executor runs the copies; may run them late, in any order
  public MemoryStore(String name, Medium medium, CacheSpace space, long capacityBlocks, Executor executor) {
    this.name = name;
    this.medium = medium;
    this.space = space;
    this.capacityBlocks = capacityBlocks;
    this.executor = executor;
  }

  /// Bytes of a block, handle or number.
  private static final class Copied {
    final BlockKey key;
    final MemorySegment bytes;
    final int[] checksums;

    Copied(BlockKey key, MemorySegment bytes, int[] checksums) {
      this.key = key;
      this.bytes = bytes;
      this.checksums = checksums;
    }
  }

  private final class Kept extends StoredBlock {
    final Copied copy;

    Kept(Copied copy) {
      super(copy.key);
      this.copy = copy;
    }

    boolean end() {
      return markClosed();
    }

    @Override
    protected void free() {
      synchronized (kept) {
        if (!closed || underWay > 0 || medium != Medium.DISK) { // a closed disk keeps its blocks
          kept.remove(copy);
        }
      }
    }
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Medium medium() {
    return medium;
  }

  @Override
  public CacheSpace space() {
    return space;
  }

  @Override
  public Durability durability() {
    return medium == Medium.DISK ? Durability.WRITTEN : Durability.VOLATILE;
  }

  @Override
  public long capacityBlocks() {
    return capacityBlocks;
  }

  @Override
  public void useEvictor(Evictor shortage) {
    this.shortage = shortage;
  }

  /// Asks for room, as a disk that is full would.
  ///
  /// @return how many blocks were given up
  public int shortage(int blocks) {
    return shortage.evict(blocks);
  }

  @Override
  public Mono<List<StoredBlock>> put(List<Block> blocks) {
    return run(() -> {
      List<Copied> copies = new ArrayList<>();
      for (Block block : blocks) {
        copies.add(copy(block));
      }
      synchronized (kept) {
        if (kept.size() + copies.size() > capacityBlocks) {
          throw new PlacesExhaustedException(name, capacityBlocks - kept.size(), copies.size());
        }
        kept.addAll(copies);
      }
      return copies.stream().<StoredBlock>map(Kept::new).toList();
    }, MemoryStore::closeAll);
  }

  /// The put was cancelled: no caller took its blocks.
  private static void closeAll(List<StoredBlock> stored) {
    stored.forEach(StoredBlock::close);
  }

  private Copied copy(Block block) {
    block.verify("store " + name);
    MemorySegment bytes = Arena.ofAuto().allocate(block.layout().blockBytes());
    block.read(memory -> bytes.copyFrom(memory));
    int[] checksums = new int[block.layout().granules()];
    for (int i = 0; i < checksums.length; i++) {
      checksums[i] = block.checksum(i);
    }
    return new Copied(block.key(), bytes, checksums);
  }

  @Override
  public Mono<Void> read(List<? extends StoredBlock> stored, List<BlockDraft> drafts, GranuleRange range) {
    return run(() -> {
      for (int i = 0; i < stored.size(); i++) {
        Kept from = (Kept) stored.get(i);
        if (from.isClosed()) {
          throw new AssertionError("a place must not be freed while it is read (was " + from.key() + ")");
        }
        copy(from.copy, drafts.get(i), range);
      }
      return drafts;
    }, read -> {}).then();
  }

  private void copy(Copied from, BlockDraft draft, GranuleRange range) {
    draft.write(range, memory -> memory.copyFrom(from.bytes.asSlice(range.offset(draft.layout()), memory.byteSize())));
    int[] expected = new int[range.count()];
    System.arraycopy(from.checksums, range.first(), expected, 0, expected.length);
    draft.verify(range, expected, "store " + name);
  }

  private <T> Mono<T> run(Callable<T> copy, Consumer<? super T> free) {
    return Handover.of(sink -> {
      synchronized (kept) {
        if (closed) {
          sink.error(new TierClosedException(name));
          return;
        }
        underWay++;
      }
      executor.execute(() -> answer(sink, copy));
    }, free);
  }

  private <T> void answer(Handover<T> sink, Callable<T> copy) {
    try {
      sink.success(copy.call());
    } catch (Exception e) {
      sink.error(e);
    }
    synchronized (kept) {
      underWay--;
    }
    endIfDone();
  }

  private void endIfDone() {
    synchronized (kept) {
      if (!closed || underWay > 0) {
        return;
      }
    }
    ended.tryEmitEmpty();
  }

  /// Flips a bit of the kept block of `key`, as a bad device would; false if it is not kept here.
  public boolean corrupt(BlockKey key, long offset) {
    boolean found = false;
    for (Copied each : snapshot()) {
      if (each.key.equals(key)) {
        byte value = each.bytes.get(JAVA_BYTE, offset);
        each.bytes.set(JAVA_BYTE, offset, (byte) (value ^ 1));
        found = true;
      }
    }
    return found;
  }

  /// Lets a new store find what this one holds, as after a restart.
  public MemoryStore reopened() {
    MemoryStore next = new MemoryStore(name, medium, space, capacityBlocks, executor);
    List<StoredBlock> found = new ArrayList<>();
    for (Copied each : snapshot()) {
      Copied again = new Copied(each.key, each.bytes, each.checksums);
      next.kept.add(again);
      found.add(next.new Kept(again));
    }
    next.recovered = found;
    return next;
  }

  /// Blocks that are kept now.
  public int storedBlocks() {
    synchronized (kept) {
      return kept.size();
    }
  }

  private Collection<Copied> snapshot() {
    synchronized (kept) {
      return List.copyOf(kept);
    }
  }

  @Override
  public List<StoredBlock> recovered() {
    List<StoredBlock> found = recovered;
    recovered = List.of();
    return found;
  }

  @Override
  public void recover(Recovered to) {
    recovered().forEach(block -> to.numbered(block.key(), toNumber(block)));
  }

  @Override
  public int toNumber(StoredBlock block) {
    Kept own = (Kept) block;
    if (!own.end()) {
      throw new AssertionError("a stored block must be open to become a number (was " + block.key() + ")");
    }
    synchronized (kept) {
      lastNumber++;
      numbered.put(lastNumber, own.copy);
      return lastNumber;
    }
  }

  @Override
  public StoredBlock fromNumber(BlockKey key, int number) {
    synchronized (kept) {
      Copied copy = numbered.remove(number);
      if (copy == null || !copy.key.equals(key)) {
        throw new AssertionError(
            "number " + number + " must be of " + key + " (was " + (copy == null ? "unused" : copy.key) + ")");
      }
      return new Kept(copy);
    }
  }

  /// Blocks that have a number and no `StoredBlock`.
  public int numberedBlocks() {
    synchronized (kept) {
      return numbered.size();
    }
  }

  @Override
  public Mono<Void> close() {
    return Mono.defer(() -> {
      synchronized (kept) {
        closed = true;
      }
      endIfDone();
      return ended.asMono();
    });
  }

  /// There are not as many places as are asked for.
  static final class PlacesExhaustedException extends TransientKvException {
    PlacesExhaustedException(String store, long free, int needed) {
      super("places of " + store + " needed must be <= " + free + " free (was " + needed + ")");
    }
  }
}
