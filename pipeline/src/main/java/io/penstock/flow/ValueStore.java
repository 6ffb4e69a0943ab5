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
import io.penstock.block.IncompleteBlockException;
import io.penstock.block.Plane;
import io.penstock.block.Plane.ElementType;
import io.penstock.check.Checks;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierHolds.PutTerms;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
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
  private final Alone alone;

  /// Runs a step that must not meet the commit of a value of the same name.
  public interface Alone {
    /// @param step finds a value and removes it
    Mono<Void> run(String name, Mono<Void> step);
  }

  /// @param tier of a space that [#space] made; stays the caller's
  public ValueStore(BlockTier tier) {
    this(tier, WINDOW_PARTS);
  }

  /// @param alone for values with missing parts, which a reader removes
  public ValueStore(BlockTier tier, Alone alone) {
    this(tier, WINDOW_PARTS, new Versions(), alone);
  }

  /// @param windowParts parts for which a put makes room at a time, and most that a get holds ahead of demand
  public ValueStore(BlockTier tier, int windowParts) {
    this(tier, windowParts, new Versions());
  }

  /// @param random draws the versions of values; two values of one name must never have equal versions
  public ValueStore(BlockTier tier, int windowParts, LongSupplier random) {
    this(tier, windowParts, random, (name, step) -> step);
  }

  private ValueStore(BlockTier tier, int windowParts, LongSupplier random, Alone alone) {
    this.alone = requireNonNull(alone, "alone");
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

  /// Length of the parts in a space of values whose blocks have `plane`.
  public static int partBytes(Plane plane) {
    return ROWS * plane.tokenBytes();
  }

  /// Bytes of the longest value that the tier takes under `name`, when all others have gone.
  public long longest(String name) {
    return ValueHead.longest(tier.info().space(), name, tier.info().capacityBlocks() - 1);
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
        .flatMap(known -> known ? Mono.just(false) : write(head, bytes));
  }

  /// Whether all parts of `found` are there; removes the value if not, as a get does.
  private Mono<Boolean> isWhole(Found found) {
    return found.head.parts() == 0
        ? Mono.just(true)
        : tier.contains(found.head.partKeys()).flatMap(parts -> parts.count() == found.head.parts()
            ? Mono.just(true)
            : drop(found).thenReturn(false));
  }

  /// Stores a value in the place of the value of this name, if there is one, in one step: until the new one is visible,
  /// the old one is, which may have another length. For a tier that replaces blocks ([PutTerms#upserts()]). Readers of
  /// the old value may fail with [IncompleteBlockException].
  ///
  /// The parts of the old value go afterwards, if the store knows it. Where it has to look for it, it looks before it
  /// has room for the head of the new one, so that puts which wait for room never wait for each other; parts of a value
  /// that another writer stores between the two stay until they are evicted. None reads them.
  ///
  /// @param before the value that it replaces, as far as the caller knows; null if it has to be looked for
  /// @param last run when all bytes have come, just before the value becomes visible, with the value that it then
  ///     replaces, or none, instead of `before`; null for `before`
  /// @return the value that is there now; empty if another writer commits one first
  public Mono<StoredValue> replace(String name, long length, Flux<MemorySegment> bytes, @Nullable StoredValue before,
      @Nullable Mono<StoredValue> last) {
    return replace(name, length, before, last,
        (head, look, then) -> written(head, look, then, writer -> writer.write(bytes)));
  }

  /// Replaces a value as the other form does, by bytes that are written where they are to lie, without a copy.
  public Mono<StoredValue> replace(String name, long length, Filling bytes, @Nullable StoredValue before,
      @Nullable Mono<StoredValue> last) {
    return replace(name, length, before, last, (head, look, then) -> head.parts() == 0 && head.tailBytes() > 0
        ? inOneBlock(head, before != null && before.name().equals(name) ? before.marks().getFirst() : head.key(), bytes,
            look, then)
        : written(head, look, then, writer -> writer.fill(bytes)));
  }

  private interface Writing {
    /// @param look run before there is room for the head; null for nothing
    /// @param last run when all bytes have come, just before the head is committed; null for nothing
    Mono<StoredValue> of(ValueHead head, @Nullable Mono<Void> look, @Nullable Mono<Void> last);
  }

  /// @param key of `head`, which depends on its name alone
  private Mono<StoredValue> inOneBlock(ValueHead head, BlockKey key, Filling bytes, @Nullable Mono<Void> look,
      @Nullable Mono<Void> last) {
    Mono<StoredValue> writing =
        new OneBlockWriter<>(tier, head, key, REPLACING, bytes, last, new StoredValue(head, List.of(key)));
    return look == null ? writing : look.then(writing);
  }

  private Mono<StoredValue> written(ValueHead head, @Nullable Mono<Void> look, @Nullable Mono<Void> last,
      Function<ValueWriter, Mono<Boolean>> bytes) {
    return write(head, look == null ? Mono.empty() : look, last, REPLACING, bytes).filter(stored -> stored)
        .map(stored -> new StoredValue(head));
  }

  private Mono<StoredValue> replace(String name, long length, @Nullable StoredValue before,
      @Nullable Mono<StoredValue> last, Writing writing) {
    return Mono.defer(() -> {
      ValueHead head = head(name, length);
      AtomicReference<@Nullable StoredValue> old = new AtomicReference<>(before);
      Mono<StoredValue> stored;
      if (last != null) {
        stored = writing.of(head, null, last.singleOptional().doOnNext(now -> old.set(now.orElse(null))).then());
      } else {
        stored = writing.of(head, before == null ? find(name).doOnNext(old::set).then() : null, null);
      }
      return stored.flatMap(now -> withoutParts(old.get(), now));
    });
  }

  /// The value of `name`, as far as its head tells: parts of it may be gone. Counts as no use, and reads nothing where
  /// there is none.
  public Mono<StoredValue> find(String name) {
    List<BlockKey> key = List.of(headKey(name));
    return tier.contains(key).flatMap(there -> there.count() == 0
        ? Mono.empty()
        : heads(key).next().filter(found -> found.name().equals(name)));
  }

  private Mono<StoredValue> withoutParts(@Nullable StoredValue old, StoredValue stored) {
    return old == null || old.head().parts() == 0
        ? Mono.just(stored)
        : tier.remove(old.partKeys()).thenReturn(stored);
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

  /// Finds values by their blocks: those of `keys` that have the head of a value. Counts as no use.
  ///
  /// @param keys of any blocks of this tier; those that are not heads are passed over
  /// @return in the order of `keys`; parts of these values may have been evicted
  public Flux<StoredValue> heads(List<BlockKey> keys) {
    CacheSpace space = tier.info().space();
    return Flux.usingWhen(Mono.fromSupplier(BlockScope::new),
        scope -> tier.peek(keys, scope).flatMapMany(lease -> lease.windows(windowParts, scope)
            .concatMapIterable(window -> window, 1).mapNotNull(one -> headIn(space, one))
            .doFinally(end -> lease.close())),
        scope -> Mono.fromRunnable(scope::close));
  }

  private @Nullable StoredValue headIn(CacheSpace space, LeasedBlock one) {
    try (Block block = one.block()) {
      return block.read(memory -> ValueHead.read(space, memory))
          .filter(head -> head.key().equals(block.key()) && mayExist(head)).map(StoredValue::new).orElse(null);
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
      throw new ValueTooLargeException(head, longest(name));
    }
    return head;
  }

  private Mono<Boolean> write(ValueHead head, Flux<MemorySegment> bytes) {
    return write(head, Mono.empty(), null, PutTerms.plain(), writer -> writer.write(bytes));
  }

  private Mono<Boolean> write(ValueHead head, Mono<Void> before, @Nullable Mono<Void> last, PutTerms terms,
      Function<ValueWriter, Mono<Boolean>> bytes) {
    return Mono.usingWhen(Mono.fromSupplier(() -> new ValueWriter(tier, head, windowParts, before, last, terms)),
        bytes, ValueWriter::end, (writer, error) -> writer.end(), ValueWriter::end);
  }

  /// Finds the value of `name`; empty if there is none.
  ///
  /// @param scope owns the parts that are read
  public Mono<LeasedValue> get(String name, BlockScope scope) {
    requireNonNull(scope, "scope");
    return value(find(name, scope), scope);
  }

  /// Finds the value of the name of `known`, which may be another one by now; empty if there is none. Costs less than a
  /// question by name.
  ///
  /// @param scope owns the parts that are read
  public Mono<LeasedValue> get(StoredValue known, BlockScope scope) {
    requireNonNull(scope, "scope");
    return value(find(known.marks().getFirst(), known.name(), scope), scope);
  }

  private Mono<LeasedValue> value(Mono<Found> head, BlockScope scope) {
    return head.flatMap(found -> found.head.parts() == 0
        ? Mono.just(new LeasedValue(found, null, windowParts, scope, LeasedValue.Span.whole(found.head)))
        : tier.lease(found.head.partKeys(), OnMiss.SKIP, scope)
            .flatMap(lease -> lease.found().count() == found.head.parts()
                ? touch(found)
                    .thenReturn(new LeasedValue(found, lease, windowParts, scope, LeasedValue.Span.whole(found.head)))
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
  public Mono<LeasedValue> get(String name, long offset, long bytes, BlockScope scope) {
    requireNonNull(scope, "scope");
    return find(name, scope).flatMap(found -> {
      if (offset < 0 || bytes < 1 || bytes > found.head.length() - offset) {
        found.block.close();
        return Mono.error(new IllegalArgumentException("range must lie in the value of " + found.head.length()
            + " bytes (was " + bytes + " from " + offset + ")"));
      }
      LeasedValue.Span span = LeasedValue.Span.of(found.head, offset, bytes);
      return isWhole(found).flatMap(whole -> {
        if (!whole) {
          found.block.close();
          return Mono.empty();
        } else if (span.parts() == 0) {
          return Mono.just(new LeasedValue(found, null, windowParts, scope, span));
        }
        return tier.lease(found.head.partKeys(span.first(), span.parts()), OnMiss.SKIP, scope)
            .flatMap(lease -> lease.found().count() == span.parts()
                ? touch(found).thenReturn(new LeasedValue(found, lease, windowParts, scope, span))
                : lost(found, lease).then(Mono.empty()));
      });
    });
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
    return alone.run(found.head.name(), remove(new StoredValue(found.head)).then());
  }

  /// Counts a value as used, if all of it is on the fastest level of the tier: it reads nothing.
  ///
  /// @return whether it counted
  public Mono<Boolean> touch(StoredValue stored) {
    List<BlockKey> all = new ArrayList<>(stored.head().parts() == 0 ? List.of() : stored.head().partKeys());
    all.add(stored.head().key());
    return tier.locate(all).flatMap(runs -> runs.size() == 1 && runs.getFirst().level() == 0
        && runs.getFirst().blocks() == all.size()
            ? Mono.usingWhen(Mono.fromSupplier(BlockScope::new),
                scope -> tier.lease(all, OnMiss.SKIP, scope).thenReturn(true),
                scope -> Mono.fromRunnable(scope::close))
            : Mono.just(false));
  }

  /// Removes a value that was stored or found, and no other that has its name by then. It finds the value, and then
  /// removes what has the key of its head: a value of this name that is committed between the two steps goes instead.
  /// A caller with writers of the same name keeps them away meanwhile.
  ///
  /// @return whether it was there
  public Mono<Boolean> remove(StoredValue stored) {
    return Mono.usingWhen(Mono.fromSupplier(BlockScope::new),
        scope -> find(stored.name(), scope).filter(found -> found.head.equals(stored.head()))
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

  /// A value is longer than all that its space may have.
  public static final class ValueTooLargeException extends PermanentKvException {
    /// Its number among the codes of the store.
    public static final int CODE = -1700;

    private final long length;
    private final long mostBytes;

    ValueTooLargeException(ValueHead head, long mostBytes) {
      super("value " + head.name() + " of space " + head.space().model() + " must be <= " + mostBytes
          + " bytes, the room of its space (was " + head.length() + "): TENANT_QUOTA_EXCEEDED " + CODE);
      this.length = head.length();
      this.mostBytes = mostBytes;
    }

    /// Bytes of the value.
    public long length() {
      return length;
    }

    /// Bytes of the longest value of this name that the space has room for: in its quota, or in all memory and disk
    /// that there is for it.
    public long mostBytes() {
      return mostBytes;
    }
  }
}
