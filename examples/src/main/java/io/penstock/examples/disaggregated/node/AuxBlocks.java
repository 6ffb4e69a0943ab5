package io.penstock.examples.disaggregated.node;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane;
import io.penstock.block.PrefixHasher;
import io.penstock.block.SlabArena;
import io.penstock.disagg.plan.Extent;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.plan.TokenPiece;
import io.penstock.disagg.plan.Transfer;
import io.penstock.disagg.request.AuxData;
import io.penstock.examples.disaggregated.model.Model;
import io.penstock.examples.disaggregated.rank.Deployment;
import io.penstock.examples.disaggregated.rank.KvBlock;
import io.penstock.examples.disaggregated.rank.Prefilled;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Data that a prefill gives in addition to the cache of a request: the first token, the cached count, and the vectors
/// from which a decode continues. It is one block of a space of its own, so it travels as the cache does.
final class AuxBlocks implements AutoCloseable {
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  /// First token, cached tokens, checksum.
  private static final int NUMBERS = 3;
  /// A slice is a row or more.
  private static final int ROW = 16;

  private final int hidden;
  private final int logits;
  private final CacheSpace space;
  private final SlabArena arena;

  /// @param requests most that have aux data at one time
  AuxBlocks(Model model, int requests) {
    this.hidden = model.config().hiddenSize();
    this.logits = model.config().vocabSize();
    this.space = CacheSpace.of(model.digest() + " aux", new BlockLayout(1, Math.ceilDiv(NUMBERS + hidden + logits, ROW),
        TokenOrder.NHD, List.of(new Plane(Plane.Kind.VALUE, Plane.ElementType.FP32, 1, ROW))));
    this.arena = new SlabArena("aux", space.layout(), requests, 1);
  }

  /// The aux data of a request are a request of their own: a decode that has the whole cache wants them, too.
  static String name(String request) {
    return request + ", aux";
  }

  /// The one block of the first prefill rank goes to the first decode rank.
  Transfer transfer() {
    Extent one = new Extent(0, 1, 0, 0);
    return new Transfer(Deployment.GROUP, Parallelism.ofTp(1).rank(0), Parallelism.ofTp(1).rank(0), one, one,
        List.of(new TokenPiece(0, 0, 0, 0, 0, space.layout().tokens())));
  }

  CacheSpace space() {
    return space;
  }

  /// An empty block.
  KvBlock claim(String name) {
    BlockKey key = space.key(PrefixHasher.ofPart(PrefixHasher.ofName(name), BlockHash.ROOT, 0));
    List<BlockDraft> drafts = arena.tryClaim(List.of(key));
    if (drafts == null) {
      throw new IllegalStateException("aux data has no free slot (all " + arena.capacitySlots() + " are taken)");
    }
    return new KvBlock(drafts.getFirst());
  }

  /// A finished block.
  KvBlock write(String name, Prefilled prefilled, int cachedTokens) {
    AuxData data = AuxData.of(name, prefilled.firstToken(), List.of(), cachedTokens);
    KvBlock block = claim(name);
    MemorySegment memory = block.memory(0);
    memory.setAtIndex(INT, 0, data.firstToken());
    memory.setAtIndex(INT, 1, data.cachedTokens());
    memory.setAtIndex(INT, 2, data.crc());
    MemorySegment.copy(prefilled.hidden(), 0, memory, FLOAT, NUMBERS * FLOAT.byteSize(), hidden);
    MemorySegment.copy(prefilled.logits(), 0, memory, FLOAT, (NUMBERS + hidden) * FLOAT.byteSize(), logits);
    block.finish(0);
    return block;
  }

  /// Content of a block; not verified.
  static AuxData data(String name, KvBlock block) {
    MemorySegment memory = block.memory(0);
    return new AuxData(name, memory.getAtIndex(INT, 0), List.of(), memory.getAtIndex(INT, 1),
        memory.getAtIndex(INT, 2));
  }

  /// The vectors in a block whose aux data are `verified`.
  Prefilled vectors(@Nullable AuxData verified, KvBlock block) {
    float[] all = block.memory(0).toArray(FLOAT);
    Prefilled prefilled = new Prefilled(Arrays.copyOfRange(all, NUMBERS, NUMBERS + hidden),
        Arrays.copyOfRange(all, NUMBERS + hidden, NUMBERS + hidden + logits));
    if (verified == null || verified.firstToken() != prefilled.firstToken()) {
      throw new IllegalStateException("first token must be " + prefilled.firstToken() + " (was " + verified + ")");
    }
    return prefilled;
  }

  @Override
  public void close() {
    arena.close();
  }
}
