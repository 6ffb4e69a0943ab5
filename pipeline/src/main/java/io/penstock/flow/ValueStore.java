package io.penstock.flow;

import static java.util.Objects.requireNonNull;

import io.penstock.PermanentKvException;
import io.penstock.block.Block;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.IncompleteBlockException;
import io.penstock.block.LayerSpan;
import io.penstock.block.Owned;
import io.penstock.block.Plane;
import io.penstock.block.Plane.ElementType;
import io.penstock.check.Checks;
import io.penstock.operator.InTurn;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierHolds.PutTerms;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Values of any length under names, in a tier whose blocks are parts of values.
///
/// A value is a run of parts and a head. The head has the name, the length and the last bytes; it is committed last, so
/// a value is visible with all its bytes or not at all. The head names the version whose parts belong to it, so the
/// parts of two versions never mix. Another value whose name has the same hash is a miss. If a part was evicted, the
/// value is a miss, and its other parts are removed. Each part has checksums and is verified as every block is.
///
/// Safe from any thread. Every `Mono` and `Flux` is cold.
public final class ValueStore {
  private static final int ROWS = 64;
  private static final int WINDOW_PARTS = 8;
  private static final PutTerms REPLACING = PutTerms.plain().withUpserts(true);

  private final BlockTier tier;
  private final int windowParts;
  private final LongSupplier random;

  /// @param tier of a space that [#space] made; stays the caller's
  public ValueStore(BlockTier tier) {
    this(tier, WINDOW_PARTS);
  }

  /// @param windowParts parts for which a put makes room at a time, and most that a get holds ahead of demand
  public ValueStore(BlockTier tier, int windowParts) {
    this(tier, windowParts, new Versions());
  }

  /// @param random draws the versions of values; two values of one name must never have equal versions
  public ValueStore(BlockTier tier, int windowParts, LongSupplier random) {
    this.tier = requireNonNull(tier, "tier");
    this.random = requireNonNull(random, "random");
    this.windowParts = Checks.positive("windowParts", windowParts);
    ValueHead.requireSpace(tier.info().space());
  }

  /// A space of values.
  ///
  /// @param name of the space; peers that share values state equal names
  /// @param partBytes multiple of 64, from 4 KiB; a value takes at least one part
  /// @param tenantSalt as in [CacheSpace#tenantSalt()]
  public static CacheSpace space(String name, int partBytes, String tenantSalt) {
    if (partBytes < ValueHead.LEAST_PART_BYTES || partBytes % ROWS != 0) {
      throw new IllegalArgumentException("partBytes must be a multiple of " + ROWS + " from "
          + ValueHead.LEAST_PART_BYTES + " on (was " + partBytes + ")");
    }
    return new CacheSpace(name, new BlockLayout(1, ROWS, TokenOrder.NHD,
        List.of(new Plane(Plane.Kind.VALUE, ElementType.INT8, 1, partBytes / ROWS))), 0, tenantSalt);
  }

  /// Stores a value, unless there is a value of this name.
  ///
  /// | | |
  /// |---|---|
  /// | backpressure | one element of `bytes` at a time, and none while the tier makes room for the next parts |
  /// | copies | each byte once, into the memory of a part |
  /// | cancel, error | the value stays invisible, and the parts stored so far are removed |
  /// | signals | errors of `bytes` and of the tier; `IllegalArgumentException` if more or fewer bytes came; |
  /// | | [ValueTooLargeException] |
  ///
  /// @param length in bytes
  /// @param bytes of the value in any pieces, each valid until the next is requested; not subscribed if the value is
  ///     there
  /// @return true if the value was stored; false if there is such a value, or another writer commits one first
  public Mono<Boolean> put(String name, long length, Flux<MemorySegment> bytes) {
    ValueHead head = head(name, length);
    return Mono.usingWhen(Mono.fromSupplier(BlockScope::new),
        scope -> find(name, scope).flatMap(this::isWhole).defaultIfEmpty(false),
        scope -> Mono.fromRunnable(scope::close))
        .flatMap(known -> known ? Mono.just(false) : write(head, bytes, false));
  }

  /// Whether all parts of `found` are there; removes the value if not, as a get does.
  private Mono<Boolean> isWhole(Found found) {
    return found.head.parts() == 0
        ? Mono.just(true)
        : tier.contains(found.head.partKeys()).flatMap(parts -> parts.count() == found.head.parts()
            ? Mono.just(true)
            : drop(found).thenReturn(false));
  }

  /// Stores a value in the place of the value of this name, if there is one, which may have another length. Readers of
  /// the old value may fail with [IncompleteBlockException]; for a moment there is neither.
  ///
  /// @return true if the value was stored; false if another writer commits one first
  public Mono<Boolean> upsert(String name, long length, Flux<MemorySegment> bytes) {
    return write(head(name, length), bytes, true);
  }

  /// Stores a value in the place of the value of this name, if there is one, in one step: until the new one is visible,
  /// the old one is. For a tier that replaces blocks ([PutTerms#upserts()]).
  ///
  /// @param before the value that it replaces, as far as the caller knows; null if it has to be looked for
  /// @param last run when all bytes have come, just before the value becomes visible; null for nothing
  /// @return the value that is there now; empty if another writer commits one first
  public Mono<Stored> replace(String name, long length, Flux<MemorySegment> bytes, @Nullable Stored before,
      @Nullable Mono<Void> last) {
    return replace(name, length, before, head -> written(head, last, writer -> writer.write(bytes)));
  }

  /// Replaces a value as the other form does, by bytes that are written where they are to lie, without a copy.
  public Mono<Stored> replace(String name, long length, Filling bytes, @Nullable Stored before,
      @Nullable Mono<Void> last) {
    return replace(name, length, before, head -> head.parts() == 0 && head.tailBytes() > 0
        ? inOneBlock(head, before != null && before.name().equals(name) ? before.marks.getFirst() : head.key(), bytes,
            last)
        : written(head, last, writer -> writer.fill(bytes)));
  }

  /// @param key of `head`, which depends on its name alone
  private Mono<Stored> inOneBlock(ValueHead head, BlockKey key, Filling bytes, @Nullable Mono<Void> last) {
    return new OneBlockWriter<>(tier, head, key, REPLACING, bytes, last, new Stored(head, List.of(key)));
  }

  private Mono<Stored> written(ValueHead head, @Nullable Mono<Void> last,
      Function<ValueWriter, Mono<Boolean>> bytes) {
    return write(head, Mono.empty(), last, REPLACING, bytes).filter(stored -> stored).map(stored -> new Stored(head));
  }

  private Mono<Stored> replace(String name, long length, @Nullable Stored before,
      Function<ValueHead, Mono<Stored>> writing) {
    return Mono.defer(() -> {
      ValueHead head = head(name, length);
      return before == null
          ? lookFor(name).map(Optional::of).defaultIfEmpty(Optional.empty())
              .flatMap(old -> replace(head, old.orElse(null), writing))
          : replace(head, before.head, writing);
    });
  }

  /// The head of the value of `name`, without a read where there is none.
  private Mono<ValueHead> lookFor(String name) {
    return tier.contains(List.of(headKey(name))).flatMap(there -> there.count() == 0
        ? Mono.empty()
        : Mono.usingWhen(Mono.fromSupplier(BlockScope::new), scope -> find(name, scope).map(Found::head),
            scope -> Mono.fromRunnable(scope::close)));
  }

  private Mono<Stored> replace(ValueHead head, @Nullable ValueHead old, Function<ValueHead, Mono<Stored>> writing) {
    Mono<Stored> written = writing.apply(head);
    return old == null || old.parts() == 0
        ? written
        : written.flatMap(stored -> tier.remove(old.partKeys()).thenReturn(stored));
  }

  /// Writes the bytes of a value where they are to lie. A put is cancelled on the thread that fills, since the memory
  /// is given back at once.
  public interface Filling {
    /// Fills `memory` with the next bytes of the value.
    ///
    /// @param memory all of it; valid until the `Mono` ends
    /// @return cold; completes when all is written
    Mono<Void> fill(MemorySegment memory);

    /// Fills the memory of the last bytes, as [#fill(MemorySegment)] does. It may write up to the end of `spare`, too,
    /// which begins where `memory` does; what it writes behind `memory` is lost. So a source takes what follows the
    /// value in one step with its end.
    default Mono<Void> fillLast(MemorySegment memory, MemorySegment spare) {
      return fill(memory);
    }
  }

  /// Bytes behind the last of a value that its source may write, at most.
  static final int SPARE_BYTES = 64;

  /// Has `bytes` fill `from` to `end` of `block`, the last bytes of a value; then there are zeros behind them.
  static Mono<Void> fillLast(Filling bytes, MemorySegment block, long from, long end) {
    long spare = Math.min(SPARE_BYTES, block.byteSize() - end);
    return spare == 0
        ? bytes.fill(block.asSlice(from, end - from))
        : bytes.fillLast(block.asSlice(from, end - from), block.asSlice(from, end - from + spare))
            .doOnSuccess(filled -> block.asSlice(end, spare).fill((byte) 0));
  }

  /// A value that was stored or found, by its blocks. Equal for one writing of it.
  public static final class Stored {
    private final ValueHead head;
    private final List<BlockKey> marks;

    private Stored(ValueHead head) {
      this(head, head.parts() == 0 ? List.of(head.key()) : List.of(head.key(), head.partKey(0)));
    }

    private Stored(ValueHead head, List<BlockKey> marks) {
      this.head = head;
      this.marks = marks;
    }

    public String name() {
      return head.name();
    }

    /// Length in bytes.
    public long length() {
      return head.length();
    }

    /// What is known of it by any reader.
    public Info info() {
      return new Info(head.length(), head.version());
    }

    /// The keys of its parts, without the head.
    public List<BlockKey> partKeys() {
      return head.parts() == 0 ? List.of() : head.partKeys();
    }

    /// Its head and, if it has parts, the first one, which is evicted before the others and the head wherever the least
    /// recently used block goes first: while a tier has both, the value is whole.
    public List<BlockKey> marks() {
      return marks;
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Stored stored && head.equals(stored.head);
    }

    @Override
    public int hashCode() {
      return head.version().hashCode();
    }

    @Override
    public String toString() {
      return "value " + head.name() + " of " + head.length() + " bytes";
    }
  }

  /// Finds values by their blocks: those of `keys` that have the head of a value. Counts as no use.
  ///
  /// @param keys of any blocks of this tier; those that are not heads are passed over
  /// @return in the order of `keys`; parts of these values may have been evicted
  public Flux<Stored> heads(List<BlockKey> keys) {
    CacheSpace space = tier.info().space();
    return Flux.usingWhen(Mono.fromSupplier(BlockScope::new),
        scope -> tier.peek(keys, scope).flatMapMany(lease -> lease.windows(windowParts, scope)
            .concatMapIterable(window -> window, 1).mapNotNull(one -> headIn(space, one))
            .doFinally(end -> lease.close())),
        scope -> Mono.fromRunnable(scope::close));
  }

  private @Nullable Stored headIn(CacheSpace space, LeasedBlock one) {
    try (Block block = one.block()) {
      return block.read(memory -> ValueHead.read(space, memory))
          .filter(head -> head.key().equals(block.key()) && mayExist(head)).map(Stored::new).orElse(null);
    }
  }

  /// The block that has the head of the value of `name`, if there is one.
  public BlockKey headKey(String name) {
    return ValueHead.key(tier.info().space(), name);
  }

  private ValueHead head(String name, long length) {
    ValueHead head = ValueHead.of(tier.info().space(), name, Checks.notNegative("length", length),
        new BlockHash(random.getAsLong(), random.getAsLong()));
    if (!mayExist(head)) {
      throw new ValueTooLargeException(head, tier.info().capacityBlocks() * head.partBytes());
    }
    return head;
  }

  private Mono<Boolean> write(ValueHead head, Flux<MemorySegment> bytes, boolean replaces) {
    return write(head, replaces ? remove(head.name()).then() : Mono.empty(), null, PutTerms.plain(),
        writer -> writer.write(bytes));
  }

  private Mono<Boolean> write(ValueHead head, Mono<Void> before, @Nullable Mono<Void> last, PutTerms terms,
      Function<ValueWriter, Mono<Boolean>> bytes) {
    return Mono.usingWhen(Mono.fromSupplier(() -> new ValueWriter(tier, head, windowParts, before, last, terms)),
        bytes, ValueWriter::end, (writer, error) -> writer.end(), ValueWriter::end);
  }

  /// Finds the value of `name`; empty if there is none.
  ///
  /// @param scope owns the parts that are read
  public Mono<Value> get(String name, BlockScope scope) {
    requireNonNull(scope, "scope");
    return value(find(name, scope), scope);
  }

  /// Finds the value of the name of `known`, which may be another one by now; empty if there is none. Costs less than a
  /// question by name.
  ///
  /// @param scope owns the parts that are read
  public Mono<Value> get(Stored known, BlockScope scope) {
    requireNonNull(scope, "scope");
    return value(find(known.marks.getFirst(), known.name(), scope), scope);
  }

  private Mono<Value> value(Mono<Found> head, BlockScope scope) {
    return head.flatMap(found -> found.head.parts() == 0
        ? Mono.just(new Value(found, null, windowParts, scope, Span.whole(found.head)))
        : tier.lease(found.head.partKeys(), OnMiss.SKIP, scope)
            .flatMap(lease -> lease.found().count() == found.head.parts()
                ? touch(found).thenReturn(new Value(found, lease, windowParts, scope, Span.whole(found.head)))
                : lost(found, lease).then(Mono.empty())));
  }

  /// What is known of the value of `name` without its bytes; empty if there is none, or if a part of it was evicted.
  public Mono<Info> info(String name) {
    return Mono.usingWhen(Mono.fromSupplier(BlockScope::new),
        scope -> find(name, scope).filterWhen(this::isWhole).map(Found::info),
        scope -> Mono.fromRunnable(scope::close));
  }

  /// A value without its bytes.
  ///
  /// @param length in bytes
  /// @param version of this write; no other write of the name has it
  public record Info(long length, BlockHash version) {}

  /// Finds a part of the value of `name`; empty if there is none. Only the parts with these bytes are read, and the
  /// first goes out before the others.
  ///
  /// @param offset of the first byte
  /// @param bytes how many, from 1 on, all inside the value; else `IllegalArgumentException`
  /// @param scope owns the parts that are read
  public Mono<Value> get(String name, long offset, long bytes, BlockScope scope) {
    requireNonNull(scope, "scope");
    return find(name, scope).flatMap(found -> {
      if (offset < 0 || bytes < 1 || bytes > found.head.length() - offset) {
        found.block.close();
        return Mono.error(new IllegalArgumentException("range must lie in the value of " + found.head.length()
            + " bytes (was " + bytes + " from " + offset + ")"));
      }
      Span span = Span.of(found.head, offset, bytes);
      return isWhole(found).flatMap(whole -> {
        if (!whole) {
          found.block.close();
          return Mono.empty();
        } else if (span.parts() == 0) {
          return Mono.just(new Value(found, null, windowParts, scope, span));
        }
        return tier.lease(found.head.partKeys(span.first(), span.parts()), OnMiss.SKIP, scope)
            .flatMap(lease -> lease.found().count() == span.parts()
                ? touch(found).thenReturn(new Value(found, lease, windowParts, scope, span))
                : lost(found, lease).then(Mono.empty()));
      });
    });
  }

  /// A run of bytes of a value: those of some parts, and perhaps some of the head.
  ///
  /// @param first part
  /// @param parts how many, without the head
  private record Span(long offset, long bytes, int first, int parts) {
    static Span of(ValueHead head, long offset, long bytes) {
      int first = (int) Math.min(head.parts(), offset / head.partBytes());
      int end = (int) Math.min(head.parts(), Math.ceilDiv(offset + bytes, head.partBytes()));
      return new Span(offset, bytes, first, Math.max(0, end - first));
    }

    static Span whole(ValueHead head) {
      return new Span(0, head.length(), 0, head.parts());
    }

    long end() {
      return offset + bytes;
    }
  }

  /// The head is used after its parts, so that it is evicted after them: while there is a head, its parts are known.
  private Mono<Void> touch(Found found) {
    return Mono.usingWhen(Mono.fromSupplier(BlockScope::new),
        scope -> tier.lease(List.of(found.head.key()), OnMiss.SKIP, scope).then(),
        scope -> Mono.fromRunnable(scope::close));
  }

  private Mono<Void> lost(Found found, Lease lease) {
    lease.close();
    found.block.close();
    return drop(found);
  }

  /// Removes a value with missing parts, unless another value of its name has replaced it.
  private Mono<Void> drop(Found found) {
    return Mono.usingWhen(Mono.fromSupplier(BlockScope::new),
        scope -> find(found.head.name(), scope).filter(now -> now.head.equals(found.head))
            .flatMap(now -> removeAll(now.head)),
        scope -> Mono.fromRunnable(scope::close));
  }

  /// Counts a value as used, if all of it is on the fastest level of the tier: it reads nothing.
  ///
  /// @return whether it counted
  public Mono<Boolean> touch(Stored stored) {
    List<BlockKey> all = new ArrayList<>(stored.head.parts() == 0 ? List.of() : stored.head.partKeys());
    all.add(stored.head.key());
    return tier.locate(all).flatMap(runs -> runs.size() == 1 && runs.getFirst().level() == 0
        && runs.getFirst().blocks() == all.size()
            ? Mono.usingWhen(Mono.fromSupplier(BlockScope::new),
                scope -> tier.lease(all, OnMiss.SKIP, scope).thenReturn(true),
                scope -> Mono.fromRunnable(scope::close))
            : Mono.just(false));
  }

  /// Removes a value that was stored or found, and no other of its name.
  ///
  /// @return whether it was there
  public Mono<Boolean> remove(Stored stored) {
    return Mono.usingWhen(Mono.fromSupplier(BlockScope::new),
        scope -> find(stored.name(), scope).filter(found -> found.head.equals(stored.head))
            .flatMap(found -> removeAll(found.head).thenReturn(true)).defaultIfEmpty(false),
        scope -> Mono.fromRunnable(scope::close));
  }

  private Mono<Void> removeAll(ValueHead head) {
    return tier.remove(List.of(head.key()))
        .then(Mono.defer(() -> head.parts() == 0 ? Mono.empty() : tier.remove(head.partKeys()).then()));
  }

  /// Removes the value of `name`. Reads in progress keep their parts.
  ///
  /// @return whether there was one
  public Mono<Boolean> remove(String name) {
    return Mono.usingWhen(Mono.fromSupplier(BlockScope::new),
        scope -> find(name, scope).flatMap(found -> removeAll(found.head).thenReturn(true)).defaultIfEmpty(false),
        scope -> Mono.fromRunnable(scope::close));
  }

  /// The length of the value of `name`; empty if there is none. Some of its parts may have been evicted.
  public Mono<Long> length(String name) {
    return Mono.usingWhen(Mono.fromSupplier(BlockScope::new),
        scope -> find(name, scope).map(found -> found.head.length()), scope -> Mono.fromRunnable(scope::close));
  }

  private Mono<Found> find(String name, BlockScope scope) {
    return find(headKey(name), name, scope);
  }

  private Mono<Found> find(BlockKey key, String name, BlockScope scope) {
    return new OneBlock<>(tier, key, scope, block -> {
      Optional<ValueHead> head = block.read(memory -> ValueHead.read(tier.info().space(), memory))
          .filter(one -> one.name().equals(name) && mayExist(one));
      if (head.isPresent()) {
        return new Found(head.get(), block);
      }
      block.close();
      return null;
    });
  }

  /// Whether the tier has room for the parts of `head`; a peer may have written a head that claims more.
  private boolean mayExist(ValueHead head) {
    return head.parts() < tier.info().capacityBlocks();
  }

  record Found(ValueHead head, Block block) {
    Info info() {
      return new Info(head.length(), head.version());
    }
  }

  /// A value that was found.
  public static final class Value {
    private final Found found;
    private final @Nullable Lease lease;
    private final int windowParts;
    private final BlockScope scope;
    private final Span span;
    private long taken;

    private Value(Found found, @Nullable Lease lease, int windowParts, BlockScope scope, Span span) {
      this.span = span;
      this.found = found;
      this.lease = lease;
      this.windowParts = windowParts;
      this.scope = scope;
    }

    /// Length of the whole value in bytes.
    public long length() {
      return found.head.length();
    }

    /// The whole value, without its bytes.
    public Info info() {
      return found.info();
    }

    /// Whether it is the value that was stored or found as `stored`.
    public boolean is(Stored stored) {
      return stored.head.equals(found.head);
    }

    /// What is known of it without its bytes.
    public Stored stored() {
      return new Stored(found.head);
    }

    /// Gives it up without a read.
    public void close() {
      if (lease != null) {
        lease.close();
      }
      found.block.close();
    }

    /// All bytes that were asked for, if they lie in the block of the head, which is read: then they take no stream.
    /// Ends this value; the caller closes the part.
    ///
    /// @return null if there are others, or none: then [#parts()] has them
    public @Nullable Part whole() {
      if (lease != null || span.parts > 0 || tailBytes() == 0) {
        return null;
      }
      Part all = new Part(found.block.share(), tailFrom(), tailBytes());
      found.block.close();
      return all;
    }

    /// The bytes that were asked for, in order, part by part, without a copy. Close each part when it is read.
    ///
    /// | | |
    /// |---|---|
    /// | backpressure | parts; a window of them is held ahead of demand |
    /// | cancel | ends the lease; the scope of the get closes the parts not taken |
    /// | signals | errors of the tier; [IncompleteBlockException] if a part that was not held was evicted or removed |
    ///
    /// @return for one subscriber
    public Flux<Part> parts() {
      Lease held = lease;
      Flux<Part> whole =
          held == null ? Flux.empty() : InTurn.of(parts(held), complete()).doFinally(end -> held.close());
      return InTurn.of(whole, tailBytes() == 0 ? Flux.empty() : tail())
          .doFinally(end -> found.block.close());
    }

    private Flux<Part> parts(Lease held) {
      return held.windows(windowParts, scope).concatMapIterable(window -> window, 1).index(this::part);
    }

    /// Bytes of the span that lie in the head, which has the last bytes of the value.
    private long tailBytes() {
      return Math.max(0, span.end() - tailStart());
    }

    private long tailStart() {
      return Math.max(span.offset, (long) found.head.parts() * found.head.partBytes());
    }

    private Flux<Part> tail() {
      return Mono.fromSupplier(() -> part(found.block.share(), tailFrom(), tailBytes())).flux();
    }

    /// Where these bytes begin in the block of the head.
    private long tailFrom() {
      return found.head.tailOffset() + tailStart() - (long) found.head.parts() * found.head.partBytes();
    }

    private Part part(long index, LeasedBlock leased) {
      if (leased.position() != index) {
        leased.block().close();
        throw missing(span.first + (int) index);
      }
      taken = index + 1;
      int number = span.first + (int) index;
      long start = (long) number * found.head.partBytes();
      long from = Math.max(span.offset, start);
      return part(leased.block(), from - start,
          Math.min(span.end(), start + found.head.bytesOfPart(number)) - from);
    }

    private Flux<Part> complete() {
      return Flux.defer(() -> taken < span.parts ? Flux.error(missing(span.first + (int) taken)) : Flux.empty());
    }

    private IncompleteBlockException missing(int index) {
      return new IncompleteBlockException(found.head.partKey(index), 0, 1);
    }

    private Part part(Block block, long offset, long bytes) {
      return scope.adopt(new Part(block, offset, bytes));
    }
  }

  /// A run of bytes of a value.
  public static final class Part extends Owned {
    private final Block block;
    private final long offset;
    private final long bytes;
    private @Nullable LayerSpan span;

    private Part(Block block, long offset, long bytes) {
      this.block = block;
      this.offset = offset;
      this.bytes = bytes;
    }

    public long bytes() {
      return bytes;
    }

    /// Lends the bytes, read-only, to `reader`. The memory is valid until `reader` returns.
    ///
    /// @throws IllegalStateException if this part was closed
    public <R> R read(Function<MemorySegment, R> reader) {
      return block.read(memory -> reader.apply(memory.asSlice(offset, bytes)));
    }

    /// A second handle, for a second owner: no scope has it.
    ///
    /// @throws IllegalStateException if this part was closed
    public Part share() {
      return new Part(block.share(), offset, bytes);
    }

    /// The bytes as a direct buffer for a socket, valid while this handle is open; read-only by agreement. For one
    /// thread.
    public ByteBuffer buffer() {
      LayerSpan held = span;
      if (held == null) {
        held = block.span(GranuleRange.all(block.layout()));
        span = held;
      }
      return held.buffer().slice((int) offset, (int) bytes);
    }

    @Override
    protected void free() {
      LayerSpan held = span;
      if (held != null) {
        held.close();
      }
      block.close();
    }
  }

  /// A value is longer than all that its space may have.
  public static final class ValueTooLargeException extends PermanentKvException {
    /// Its number among the codes of the store.
    public static final int CODE = -1700;

    ValueTooLargeException(ValueHead head, long quotaBytes) {
      super("value " + head.name() + " of space " + head.space().model() + " must be < the quota of " + quotaBytes
          + " bytes (was " + head.length() + "): TENANT_QUOTA_EXCEEDED " + CODE);
    }
  }
}
