package io.penstock.block;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// Writable memory of a block that no reader can see yet: claim, write granule by granule, then seal or abandon.
///
/// A writer fills memory with [#write]. Then [#produced] computes the checksums at the source, or [#verify] compares
/// the bytes with checksums that came along. Verified bytes are final. Parts may come in any order. [#seal()] succeeds
/// when every granule is verified, and [#close()] abandons the draft; either ends it. Writes pin the memory, so a close
/// on another thread never frees it under a writer. Verifying and sealing are safe from any thread.
public final class BlockDraft extends Owned {
  private final BlockKey key;
  private final BlockLayout layout;
  private final Slot slot;
  private final VerifiedGranules verified;
  /// Replaced as parts are added: as a rule there are none.
  @GuardedBy("this") private List<Part> parts = List.of();
  /// For each granule the number of bytes of parts that arrived; null before the first.
  @GuardedBy("this") private long @Nullable [] came;

  /// Takes over the first hold on `slot`.
  BlockDraft(BlockKey key, BlockLayout layout, Slot slot) {
    this.key = key;
    this.layout = layout;
    this.slot = slot;
    this.verified = new VerifiedGranules(layout);
  }

  public BlockKey key() {
    return key;
  }

  public BlockLayout layout() {
    return layout;
  }

  /// Number of its slot in the arena.
  public int slot() {
    return slot.number();
  }

  /// Lets `writer` fill the bytes of `range`. The memory is valid until `writer` returns.
  ///
  /// @throws IllegalStateException if any byte of `range` is verified, and so final, or if the draft is sealed or
  ///     closed
  /// @throws IndexOutOfBoundsException if `range` leaves the block
  public void write(GranuleRange range, Consumer<MemorySegment> writer) {
    range.requireInside(layout);
    requireUnverified(range);
    pin();
    try {
      writer.accept(slot.memory.asSlice(range.offset(layout), range.bytes(layout)));
    } finally {
      slot.release();
    }
  }

  /// Gives one writer the right to fill `view`. The other parts of the draft are for other writers.
  ///
  /// @throws UnexpectedSliceException if a byte of `view` belongs to another part, or is verified
  /// @throws IndexOutOfBoundsException if `view` leaves the block
  public synchronized Part part(BlockView view) {
    view.requireInside(layout);
    for (Part other : parts) {
      if (other.view().overlaps(view)) {
        throw new UnexpectedSliceException("view", "apart from " + other.view(), view);
      }
    }
    if (verified.touch(view.granules())) {
      throw new UnexpectedSliceException("view", "of granules that are not verified", view);
    }
    Part part = new Part(this, view);
    List<Part> more = new ArrayList<>(parts);
    more.add(part);
    parts = more;
    return part;
  }

  /// Copies packed bytes of a part, which belong to one granule, and completes the granule when all its bytes have
  /// arrived.
  void landed(BlockView view, MemorySegment packed) {
    int granule = view.granules().first();
    pin();
    try {
      int offset = layout.granuleOffset(granule);
      int bytes = layout.granuleBytes(granule);
      view.scatter(layout, granule, packed, view.firstToken(), view.tokens(), slot.memory.asSlice(offset, bytes));
      if (count(granule, packed.byteSize()) == bytes) { // by the last of the writers
        add(GranuleRange.whole(granule, 1), new int[] {slot.checksum(offset, bytes)}, "memory");
      }
    } finally {
      slot.release();
    }
  }

  /// Number of bytes of parts that have arrived for a granule, with the `bytes` that just arrived.
  private synchronized long count(int granule, long bytes) {
    if (came == null) {
      came = new long[layout.granules()];
    }
    return came[granule] += bytes;
  }

  /// A hold on the memory of `range`, for a writer that continues after this returns. The caller closes the hold before
  /// the bytes are verified.
  ///
  /// @throws IllegalStateException if any byte of `range` is verified, and so final, or if the draft is sealed or
  ///     closed
  /// @throws IndexOutOfBoundsException if `range` leaves the block
  public Span writing(GranuleRange range) {
    range.requireInside(layout);
    requireUnverified(range);
    pin(); // the span keeps this hold
    return new Span(layout, slot, range);
  }

  /// Computes the checksums of `range`, whose bytes were produced here. A second call changes nothing.
  ///
  /// @throws IllegalStateException if some but not all rows of `range` were verified before, or if the draft was sealed
  ///     or closed
  /// @throws IndexOutOfBoundsException if `range` leaves the block
  public void produced(GranuleRange range) {
    pin();
    try {
      add(range, checksums(range), "memory");
    } finally {
      slot.release();
    }
  }

  /// Compares the bytes of `range`, which came from elsewhere, with their checksums, one a granule.
  ///
  /// @param boundary where the bytes crossed, named in the error: `wire`, `tier host`
  /// @throws BlockCorruptException at the first difference; nothing of `range` is verified then
  /// @throws IllegalArgumentException if there are more or fewer checksums than granules
  /// @throws IllegalStateException if some but not all rows of `range` were verified before, or if the draft was sealed
  ///     or closed
  /// @throws IndexOutOfBoundsException if `range` leaves the block
  public void verify(GranuleRange range, int[] expected, String boundary) {
    requireOneEach(range, expected);
    pin();
    try {
      verify(range, checksums(range), expected, boundary);
    } finally {
      slot.release();
    }
  }

  private static void requireOneEach(GranuleRange range, int[] expected) {
    if (expected.length != range.count()) {
      throw new IllegalArgumentException(
          "checksums must be " + range.count() + ", one a granule (was " + expected.length + ")");
    }
  }

  private void verify(GranuleRange range, int[] actual, int[] expected, String boundary) {
    int differs = Arrays.mismatch(expected, actual);
    if (differs >= 0) {
      throw new BlockCorruptException(boundary, key, range.first() + differs, expected[differs], actual[differs]);
    }
    add(range, actual, boundary);
  }

  /// Compares the bytes that were written through `span`, and counted as they came, with their checksums: the same as
  /// [#verify(GranuleRange, int\[\], String)] without another read.
  ///
  /// @throws IllegalStateException also if not all bytes of `span` were counted
  public void verify(Span span, int[] expected, String boundary) {
    requireOneEach(span.range, expected);
    int[] actual = sums(span);
    pin();
    try {
      verify(span.range, actual, expected, boundary);
    } finally {
      slot.release();
    }
  }

  /// Takes rows that came from elsewhere with the checksum of their whole granule only. They are final, and verified
  /// when the last rows of the granule have come.
  ///
  /// @param boundary where the bytes crossed, named in the error
  /// @throws BlockCorruptException with the last rows, if the granule differs; nothing of it is verified then
  /// @throws IllegalArgumentException if `rows` is a range of whole granules
  /// @throws IllegalStateException if some but not all of `rows` came before, or if the draft was sealed or closed
  /// @throws IndexOutOfBoundsException if `rows` leaves the block
  public void verifyWithGranule(GranuleRange rows, int expected, String boundary) {
    requireRows(rows);
    pin();
    try {
      requireSame(addRows(rows, checksums(rows)[0], expected), boundary);
    } finally {
      slot.release();
    }
  }

  private static void requireRows(GranuleRange range) {
    if (range.isWhole()) {
      throw new IllegalArgumentException("range must be rows of a granule (was " + range + ")");
    }
  }

  private int[] sums(Span span) {
    if (!span.slot.equals(slot)) {
      throw new IllegalArgumentException("span must be of this draft, " + key);
    }
    return span.sums();
  }

  /// Takes rows that were written through `span`, and counted as they came.
  ///
  /// @throws IllegalStateException also if not all bytes of `span` were counted
  public void verifyWithGranule(Span span, int expected, String boundary) {
    requireRows(span.range);
    int actual = sums(span)[0];
    pin();
    try {
      requireSame(addRows(span.range, actual, expected), boundary);
    } finally {
      slot.release();
    }
  }

  /// The parts of `range` that are not verified yet: runs of whole granules, or the rows of `range`.
  ///
  /// @throws IndexOutOfBoundsException if `range` leaves the block
  public synchronized List<GranuleRange> unverified(GranuleRange range) {
    range.requireInside(layout);
    return verified.missing(range);
  }

  /// True when every granule is verified.
  public synchronized boolean isComplete() {
    return verified.missing() == 0;
  }

  /// Checksums of its granules, also after it was sealed or closed.
  ///
  /// @throws IncompleteBlockException if a granule is not verified
  public int[] granuleChecksums() {
    requireComplete();
    return verified.checksums().clone();
  }

  /// @throws IncompleteBlockException if a granule is not verified
  public synchronized void requireComplete() {
    if (verified.missing() > 0) {
      throw new IncompleteBlockException(key, verified.firstMissing(), verified.missing());
    }
  }

  /// A read-only share of `range`, whose granules are all verified, for a reader that cannot wait for the whole block.
  /// Rows that were verified as one run may be shared before the other rows of their granule are verified.
  ///
  /// @throws IllegalStateException if a granule, or just these rows, are not verified, or if the draft is sealed or
  ///     closed
  /// @throws IndexOutOfBoundsException if `range` leaves the block
  public LayerSpan span(GranuleRange range) {
    range.requireInside(layout);
    LayerSpan.VerifiedRows rows = requireVerified(range);
    pin(); // the span keeps this hold
    return new LayerSpan(key, layout, slot, verified.checksums(), range, rows, null);
  }

  /// Makes the draft a block, and ends the draft.
  ///
  /// @throws IncompleteBlockException if a granule is not verified; the draft stays open
  /// @throws IllegalStateException if the draft was sealed or closed
  public Block seal() {
    requireComplete();
    if (!markClosed()) {
      throw new IllegalStateException("draft must be open to be sealed (was closed, " + key + ")");
    }
    return new Block(key, layout, slot, verified.checksums());
  }

  @Override
  protected void free() {
    slot.release();
  }

  private void pin() {
    if (isClosed() || !slot.retain()) {
      throw new IllegalStateException("draft must be open (was closed, " + key + ")");
    }
    if (isClosed()) { // closed in between: the slot may have another owner by now
      slot.release();
      throw new IllegalStateException("draft must be open (was closed, " + key + ")");
    }
  }

  private synchronized void requireUnverified(GranuleRange range) {
    if (verified.touch(range)) {
      throw new IllegalStateException(
          "granules must not be written after they were verified (was " + range + " of " + key + ")");
    }
    for (Part part : parts) {
      GranuleRange theirs = part.view().granules();
      if (range.first() < theirs.end() && theirs.first() < range.end()) {
        throw new IllegalStateException("granules must not belong to a part (was " + range + " of " + key + ")");
      }
    }
  }

  /// The verified rows that equal `range`; null if its granules are verified.
  private synchronized LayerSpan.@Nullable VerifiedRows requireVerified(GranuleRange range) {
    if (verified.cover(range)) {
      return null;
    }
    Integer crc = verified.crcOfRows(range);
    if (crc == null) {
      throw new IllegalStateException(
          "granules must be verified before they are shared (was " + range + " of " + key + ")");
    }
    return new LayerSpan.VerifiedRows(range, crc);
  }

  private int[] checksums(GranuleRange range) {
    range.requireInside(layout);
    if (!range.isWhole()) {
      return new int[] {slot.checksum(range.offset(layout), range.bytes(layout))};
    }
    return slot.checksums(layout, range);
  }

  private void add(GranuleRange range, int[] sums, String boundary) {
    requireSame(addSums(range, sums), boundary);
  }

  private synchronized VerifiedGranules.@Nullable Difference addSums(GranuleRange range, int[] sums) {
    return verified.add(range, sums);
  }

  private synchronized VerifiedGranules.@Nullable Difference addRows(GranuleRange rows, int crc, int expected) {
    return verified.cover(rows) ? null : verified.addRows(rows, crc, expected);
  }

  private void requireSame(VerifiedGranules.@Nullable Difference found, String boundary) {
    if (found != null) {
      throw new BlockCorruptException(boundary, key, found.granule(), found.expected(), found.actual());
    }
  }

  @Override
  public String toString() {
    return "draft " + key;
  }

  /// One owner's hold on writable memory of a draft, for a writer that goes on after its call returned, such as the
  /// engine of a device.
  ///
  /// If the draft is closed meanwhile, the writer keeps the memory: the slot goes back with the last hold. The owner
  /// closes the span before the bytes are verified, because verified bytes are final. Safe from any thread.
  public static final class Span extends Owned {
    private final BlockLayout layout;
    private final Slot slot;
    private final GranuleRange range;
    private final MemorySegment memory;
    /// Checksums of the granules whose bytes [#wrote] has counted.
    private final int[] sums;
    /// Of the bytes of the next granule that it has counted.
    private final CRC32C sum = new CRC32C();
    private int granule;
    /// Bytes of the next granule that are to come.
    private int missing;
    private int counted;

    /// Takes over one hold on `slot`.
    Span(BlockLayout layout, Slot slot, GranuleRange range) {
      this.layout = layout;
      this.slot = slot;
      this.range = range;
      this.memory = slot.memory.asSlice(range.offset(layout), range.bytes(layout));
      this.sums = new int[range.count()];
      this.missing = lengthOf(0);
    }

    /// The bytes to be written, valid while this handle is open.
    ///
    /// @throws IllegalStateException if this handle was closed
    public MemorySegment memory() {
      if (isClosed()) {
        throw new IllegalStateException("span of a draft must be open (was closed)");
      }
      return memory;
    }

    /// Counts the next `bytes` of the memory in the checksums. They are written, and stay as they are. It reads them
    /// while they are in the cache of the processor, and while the next ones may still be on their way. Used by one
    /// thread.
    ///
    /// @throws IndexOutOfBoundsException if fewer than `bytes` are left
    public void wrote(int bytes) {
      ByteBuffer next = memory().asSlice(counted, bytes).asByteBuffer();
      counted += bytes;
      for (int left = bytes; left > 0;) {
        int part = Math.min(left, missing);
        sum.update(next.limit(next.position() + part));
        left -= part;
        missing -= part;
        if (missing == 0) {
          sums[granule++] = (int) sum.getValue();
          sum.reset();
          missing = granule < sums.length ? lengthOf(granule) : 0;
        }
      }
    }

    private int lengthOf(int i) {
      return range.isWhole() ? layout.granuleBytes(range.first() + i) : range.bytes(layout);
    }

    private int[] sums() {
      if (counted < memory.byteSize()) {
        throw new IllegalStateException(
            "bytes of a span must be counted, all " + memory.byteSize() + " (were " + counted + ")");
      }
      return sums;
    }

    @Override
    protected void free() {
      slot.release();
    }
  }

  /// The right of one writer to fill a view of a draft. Several writers, each with its part, fill one draft: heads from
  /// one source, layers from another. No byte belongs to two parts, and each comes once; the draft is complete when all
  /// parts are, and the parts cover it.
  ///
  /// Safe from any thread. Writes pin the memory as those of [BlockDraft] do.
  public static final class Part {
    private final BlockDraft draft;
    private final BlockView view;
    /// Bit `(granule - first) × tokens + token - first token`: verified.
    @GuardedBy("this") private final BitSet verified;

    Part(BlockDraft draft, BlockView view) {
      this.draft = draft;
      this.view = view;
      this.verified = new BitSet(view.granules().count() * view.tokens());
    }

    /// The view that the writer may fill.
    public BlockView view() {
      return view;
    }

    public BlockDraft draft() {
      return draft;
    }

    /// Copies the packed bytes of some tokens of a granule to their places. The caller has compared them with their
    /// checksum.
    ///
    /// @param granule of the view
    /// @param firstToken of the view, counted in the block
    /// @param tokens number of tokens
    /// @param packed `[token][head][width]`, the heads of the view
    /// @throws UnexpectedSliceException if the tokens do not belong to the view, or have arrived before
    /// @throws IllegalStateException if the draft was sealed or closed
    public void land(int granule, int firstToken, int tokens, MemorySegment packed) {
      BlockView part =
          new BlockView(GranuleRange.whole(granule, 1), view.firstHead(), view.heads(), firstToken, tokens);
      if (!view.contains(part)) {
        throw new UnexpectedSliceException("view", "inside " + view, part);
      }
      long wanted = part.bytes(draft.layout());
      if (packed.byteSize() != wanted) {
        throw new UnexpectedSliceException("packed bytes", "" + wanted, packed.byteSize());
      }
      take(granule, firstToken, tokens);
      draft.landed(part, packed);
    }

    /// Copies those of the tokens that have not arrived before: for a source that is asked again.
    public void landMissing(int granule, int firstToken, int tokens, MemorySegment packed) {
      long tokenBytes = packed.byteSize() / tokens;
      int end = firstToken + tokens;
      for (int from = nextMissing(granule, firstToken); from < end; from = nextMissing(granule, from)) {
        int to = Math.min(end, nextLanded(granule, from));
        land(granule, from, to - from, packed.asSlice((from - firstToken) * tokenBytes, (to - from) * tokenBytes));
      }
    }

    /// Fills the missing bytes with zeros: the tokens behind the end of a prompt, for instance.
    public void landZeros() {
      for (int granule = view.granules().first(); granule < view.granules().end(); granule++) {
        if (nextMissing(granule, view.firstToken()) < end()) {
          try (Arena zeros = Arena.ofConfined()) {
            long bytes = (long) view.tokens() * view.tokenBytes(draft.layout(), granule);
            landMissing(granule, view.firstToken(), view.tokens(), zeros.allocate(bytes));
          }
        }
      }
    }

    /// True when all bytes of the part have arrived.
    public synchronized boolean isComplete() {
      return verified.cardinality() == view.granules().count() * view.tokens();
    }

    /// The first granule of which tokens are missing; that behind the last one if none are.
    public synchronized int firstMissing() {
      return view.granules().first() + verified.nextClearBit(0) / view.tokens();
    }

    private synchronized void take(int granule, int firstToken, int tokens) {
      int from = bit(granule, firstToken);
      int came = verified.nextSetBit(from);
      if (came >= 0 && came < from + tokens) {
        throw new UnexpectedSliceException("tokens of granule " + granule, "such as did not come before",
            firstToken + " + " + tokens);
      }
      verified.set(from, from + tokens);
    }

    /// The first missing token from `token` on; the end of the view if there is none.
    private synchronized int nextMissing(int granule, int token) {
      return Math.min(end(), token + verified.nextClearBit(bit(granule, token)) - bit(granule, token));
    }

    /// The first token from `token` on that has arrived; the end of the view if there is none.
    private synchronized int nextLanded(int granule, int token) {
      int next = verified.nextSetBit(bit(granule, token));
      return next < 0 ? end() : Math.min(end(), token + next - bit(granule, token));
    }

    private int end() {
      return view.firstToken() + view.tokens();
    }

    private int bit(int granule, int token) {
      return (granule - view.granules().first()) * view.tokens() + token - view.firstToken();
    }

    @Override
    public String toString() {
      return view + " of " + draft;
    }
  }
}
