package io.penstock.system;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.BitSet;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/// Memory of this process that other processes of the same user on this host can map to read, see [PeerRegion]. It is a
/// memfd with a sealed length; the system refuses a second writable mapping of it.
///
/// It begins with [#HEADER_BYTES]: the bytes `PKSHMEM1`, the kind, 4 bytes, 0, and the token of 16 random bytes, so
/// that a reader can check that it mapped the region that the peer meant, and prove that it could.
@SuppressWarnings("restricted") // this package is the place for native memory
public final class SharedRegion implements AutoCloseable {
  /// Bytes at the beginning that hold no blocks.
  public static final int HEADER_BYTES = 4096;
  public static final int TOKEN_BYTES = 16;
  /// Prefix of the region's name in `/proc`.
  static final String PREFIX = "penstock-";
  static final long MAGIC = 0x314D454D48534B50L;
  static final int KIND_OFFSET = 8;
  static final int TOKEN_OFFSET = 16;

  private static final ConcurrentSkipListMap<Long, SharedRegion> OPEN = new ConcurrentSkipListMap<>();
  private static final SecureRandom RANDOM = new SecureRandom();

  /// Purpose of a region. A reader refuses a region of another kind.
  public enum Kind {
    /// Blocks.
    BLOCKS(1),
    /// Nothing: a client reads its token, and so proves to the node that it can.
    NODE_PROBE(2),
    /// Nothing: the node reads its token, and so proves to its client that it can.
    CLIENT_PROBE(3),
    /// Requests of a client.
    REQUESTS(4),
    /// Answers of a node.
    ANSWERS(5);

    private final int number;

    Kind(int number) {
      this.number = number;
    }

    int number() {
      return number;
    }
  }

  private final Kind kind;
  private final NativeFile file;
  private final Arena arena;
  private final MemorySegment all;
  private final byte[] token = new byte[TOKEN_BYTES];
  /// Large pages that the system was asked for, by number.
  @GuardedBy("itself") private final BitSet enlarged = new BitSet();

  private SharedRegion(Kind kind, NativeFile file, Arena arena, MemorySegment all) {
    this.kind = kind;
    this.file = file;
    this.arena = arena;
    this.all = all;
  }

  /// Makes a region. Its pages are made when they are first touched.
  ///
  /// @param name shown in `/proc`
  /// @param bytes without the header
  public static SharedRegion create(Kind kind, String name, long bytes) throws SystemCallException {
    NativeFile file = NativeFile.memfd(PREFIX + name, HEADER_BYTES + bytes);
    Arena arena = Arena.ofShared();
    try {
      SharedRegion region = new SharedRegion(kind, file, arena, file.map(HEADER_BYTES + bytes, arena));
      region.writeHeader();
      file.sealForReaders();
      OPEN.put(region.all.address(), region);
      return region;
    } catch (SystemCallException | RuntimeException e) {
      arena.close();
      file.close();
      throw e;
    }
  }

  private void writeHeader() {
    RANDOM.nextBytes(token);
    all.set(JAVA_LONG, 0, MAGIC);
    all.set(JAVA_INT, KIND_OFFSET, kind.number());
    all.asSlice(TOKEN_OFFSET, TOKEN_BYTES).copyFrom(MemorySegment.ofArray(token));
  }

  /// The open region of this process that has `address`; null if there is none.
  public static @Nullable SharedRegion at(long address) {
    Map.Entry<Long, SharedRegion> below = OPEN.floorEntry(address);
    return below != null && below.getValue().contains(address) ? below.getValue() : null;
  }

  /// Whether this process has memory of this kind.
  public static boolean isOpen(Kind kind) {
    return OPEN.values().stream().anyMatch(region -> region.kind == kind);
  }

  /// Whether `address` lies behind the header.
  public boolean contains(long address) {
    return address >= all.address() + HEADER_BYTES && address < all.address() + all.byteSize();
  }

  /// Offset of `address` from the beginning of the header.
  public long offset(long address) {
    return address - all.address();
  }

  /// Memory behind the header, until it is closed.
  public MemorySegment memory() {
    return all.asSlice(HEADER_BYTES);
  }

  /// Memory with the header, until it is closed.
  public MemorySegment all() {
    return all;
  }

  /// Makes the pages of `part` now. A missing page is a refusal here, and would be the end of the process later.
  public static void populate(MemorySegment part) throws SystemCallException {
    NativeMemory calls = NativeMemory.ofSystem();
    long page = calls.pageBytes();
    long begin = part.address() / page * page;
    long end = Math.ceilDiv(part.address() + part.byteSize(), page) * page;
    try {
      calls.advise(begin, end - begin, NativeMemory.Advice.POPULATE_WRITE);
    } catch (SystemCallException e) {
      if (e.errno() != SystemCallException.EINVAL) { // Linux before 5.14 makes the pages when they are touched
        throw e;
      }
    }
  }

  /// Has the system make `part` of large pages, which the mappings of peers then have, too: copies of blocks miss few
  /// translations of addresses. Where it makes none, pages stay plain. A page that it makes holds zeroes, or what it
  /// held before; pages around `part` may be made as well.
  public void enlarge(MemorySegment part) {
    int first = (int) (offset(part.address()) / NativeMemory.LARGE_PAGE_BYTES);
    int end = (int) Math.ceilDiv(offset(part.address()) + part.byteSize(), NativeMemory.LARGE_PAGE_BYTES);
    int last = Math.min(end, (int) (all.byteSize() / NativeMemory.LARGE_PAGE_BYTES));
    synchronized (enlarged) {
      for (int from = enlarged.nextClearBit(first); from < last; from = enlarged.nextClearBit(from)) {
        int next = enlarged.nextSetBit(from);
        int to = next < 0 ? last : Math.min(next, last);
        enlarged.set(from, to);
        enlarge(from, to);
      }
    }
  }

  private void enlarge(int from, int to) {
    NativeMemory calls = NativeMemory.ofSystem();
    try {
      for (int page = from; page < to; page++) { // the system makes no large page where there is none yet
        calls.advise(address(page), calls.pageBytes(), NativeMemory.Advice.POPULATE_WRITE);
      }
      calls.advise(address(from), address(to) - address(from), NativeMemory.Advice.COLLAPSE);
    } catch (SystemCallException e) {
      // an old system, or one without so much memory in one piece
    }
  }

  private long address(int page) {
    return all.address() + page * NativeMemory.LARGE_PAGE_BYTES;
  }

  /// Descriptor by which other processes find it.
  public int descriptor() {
    return file.number();
  }

  public byte[] token() {
    return token.clone();
  }

  /// Appends the token to `to`.
  public void putToken(ByteBuffer to) {
    to.put(token);
  }

  /// Unmaps it here; a process that has mapped it keeps its mapping.
  @Override
  public void close() {
    if (OPEN.remove(all.address(), this)) {
      arena.close();
      file.close();
    }
  }
}
