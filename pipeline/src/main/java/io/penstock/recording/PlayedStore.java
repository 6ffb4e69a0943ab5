package io.penstock.recording;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.recording.Player.PlayedStoreSpec;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.tier.Medium;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.StoredBlock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.function.Consumer;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Sinks;

/// A store that answers what the store of a recording answered, when the recording says so. It keeps no bytes: those of
/// a block are a function of its key.
final class PlayedStore implements BlockStore {
  private final PlayedStoreSpec spec;
  private final int number;
  private final Turns turns;
  private final Payloads payloads;
  private final Map<Long, Operation> waiting = new HashMap<>();
  private final Map<Long, Sinks.Empty<Void>> rooms = new HashMap<>();
  private long operations;
  private int numbers;
  /// Checksums of the blocks that have a number, where they are known.
  private final Map<Integer, Long> checksums = new HashMap<>();
  private StoreHealth health = StoreHealth.GOOD;
  private Runnable changed = () -> {};
  private Evictor evictor = blocks -> 0;
  private Consumer<BlockKey> damaged = key -> {};
  private boolean ended;

  /// An operation that has not ended.
  private interface Operation {
    void succeed();

    void fail(Throwable error);

    /// The playing has ended.
    void end();
  }

  PlayedStore(PlayedStoreSpec spec, int number, Turns turns, Payloads payloads) {
    this.spec = spec;
    this.number = number;
    this.turns = turns;
    this.payloads = payloads;
  }

  /// The playing has ended: what waits ends, and what is asked from now on ends at once. Reads fail, for there is
  /// nothing to read.
  void end() {
    ended = true;
    List.copyOf(waiting.keySet()).forEach(operation -> taken(operation).end());
    rooms.values().forEach(Sinks.Empty::tryEmitEmpty);
    rooms.clear();
  }

  // What the recording says

  void done(long operation) {
    taken(operation).succeed();
  }

  void failed(RecordedEvent event) {
    long operation = event.number(1);
    Sinks.Empty<Void> room = Sinks.empty();
    rooms.put(operation, room);
    Mono<Void> waits = Mono.defer(() -> {
      RecordedEvent next = turns.next();
      boolean here = next != null && !next.begins() && next.kind() == Kind.STORE_ROOM && next.number(0) == number
          && next.number(1) == operation;
      return here ? Mono.empty() : room.asMono();
    });
    taken(operation).fail(Errors.played(event, waits, spec.name()));
  }

  private Operation taken(long operation) {
    Operation ended = waiting.remove(operation);
    if (ended == null) {
      throw new IllegalStateException("store %s must have begun operation %d (was not)".formatted(spec.name(),
          operation));
    }
    return ended;
  }

  void room(long operation) {
    Sinks.Empty<Void> room = rooms.remove(operation);
    if (room != null) {
      room.tryEmitEmpty();
    }
  }

  void evict(int blocks) {
    evictor.evict(blocks);
  }

  void health(StoreHealth now) {
    health = now;
    changed.run();
  }

  void damaged(BlockKey key) {
    damaged.accept(key);
  }

  // What the tier asks

  /// Ends an operation at once if the recording has its end in the same turn.
  private void begin(Operation operation) {
    if (ended) {
      operation.end();
      return;
    }
    long id = ++operations;
    waiting.put(id, operation);
    RecordedEvent next = turns.next();
    if (next == null || next.begins() || next.size() < 2 || next.number(0) != number || next.number(1) != id) {
      return;
    }
    if (next.kind() == Kind.STORE_DONE) {
      done(id);
    } else if (next.kind() == Kind.STORE_FAILED) {
      failed(next);
    }
  }

  @Override
  public Mono<List<StoredBlock>> put(List<Block> blocks) {
    List<Played> kept = blocks.stream().map(block -> new Played(block.key(),
        turns.tellsChecksums() ? PayloadKeeper.checksum(block) : Payloads.UNKNOWN)).toList();
    return Mono.create(sink -> begin(ending(sink, () -> sink.success(new ArrayList<>(kept)), true)));
  }

  @Override
  public Mono<Void> read(List<? extends StoredBlock> blocks, List<BlockDraft> drafts, GranuleRange range) {
    return Mono.create(sink -> begin(ending(sink, () -> {
      for (int i = 0; i < drafts.size(); i++) {
        payloads.fill(drafts.get(i), range, ((Played) blocks.get(i)).checksum);
      }
      sink.success();
    }, false)));
  }

  /// @param lasts whether it succeeds, too, when the playing has ended
  private static Operation ending(MonoSink<?> sink, Runnable success, boolean lasts) {
    return new Operation() {
      @Override
      public void succeed() {
        success.run();
      }

      @Override
      public void fail(Throwable error) {
        sink.error(error);
      }

      @Override
      public void end() {
        if (lasts) {
          success.run();
        } else {
          sink.error(new CancellationException("the playing has ended"));
        }
      }
    };
  }

  @Override
  public void recover(Recovered to) {
    while (turns.nextIs(Kind.RECOVERED, number)) {
      RecordedEvent next = requireNonNull(turns.next());
      switch ((int) next.number(1)) {
        case 0 -> to.stored(new Played(next.key(), Payloads.UNKNOWN));
        case 1 -> to.numbered(next.key(), numbers++);
        default -> to.damaged(next.key());
      }
    }
  }

  @Override
  public List<StoredBlock> recovered() {
    return List.of();
  }

  @Override
  public boolean isIntact(StoredBlock block) {
    return !turns.nextIs(Kind.NOT_INTACT, number);
  }

  @Override
  public int toNumber(StoredBlock block) {
    if (turns.nextIs(Kind.NO_NUMBER, number)) {
      return NO_NUMBER;
    }
    block.close();
    if (((Played) block).checksum != Payloads.UNKNOWN) {
      checksums.put(numbers, ((Played) block).checksum);
    }
    return numbers++;
  }

  @Override
  public StoredBlock fromNumber(BlockKey key, int given) {
    Long checksum = checksums.remove(given);
    return new Played(key, checksum == null ? Payloads.UNKNOWN : checksum);
  }

  @Override
  public String name() {
    return spec.name();
  }

  @Override
  public Medium medium() {
    return spec.medium();
  }

  @Override
  public CacheSpace space() {
    return spec.space();
  }

  @Override
  public Durability durability() {
    return spec.durability();
  }

  @Override
  public long capacityBlocks() {
    return spec.capacityBlocks();
  }

  @Override
  public StoreHealth health() {
    RecordedEvent next = turns.next();
    if (next != null && next.kind() == Kind.STORE_HEALTH && !next.begins() && next.number(0) == number) {
      health = healthOf(next);
    }
    return health;
  }

  static StoreHealth healthOf(RecordedEvent event) {
    String problem = event.text();
    return new StoreHealth(StoreHealth.State.values()[(int) event.number(1)], problem.isEmpty() ? null : problem);
  }

  @Override
  public void watch(Runnable told) {
    changed = told;
  }

  @Override
  public void useEvictor(Evictor asked) {
    evictor = asked;
  }

  @Override
  public void report(Consumer<BlockKey> told) {
    damaged = told;
  }

  @Override
  public Mono<Void> close() {
    return Mono.create(sink -> begin(ending(sink, sink::success, true)));
  }

  /// A block that a played store holds.
  private static final class Played extends StoredBlock {
    private final long checksum;

    /// @param checksum of the block, [Payloads#UNKNOWN] if an earlier process wrote it
    Played(BlockKey key, long checksum) {
      super(key);
      this.checksum = checksum;
    }

    @Override
    protected void free() {
      // Holds nothing
    }
  }
}
