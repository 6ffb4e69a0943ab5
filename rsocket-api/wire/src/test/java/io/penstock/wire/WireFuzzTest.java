package io.penstock.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.KvException;
import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.ElementType;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSpan;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceOrder;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.HostTier;
import io.penstock.tier.HostTierOptions;
import io.penstock.tier.Leased;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.TierListener;
import io.rsocket.Payload;
import io.rsocket.util.ByteBufPayload;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.test.scheduler.VirtualTimeScheduler;

/// 100,000 broken messages: nothing crashes, nothing wrong is delivered, nothing leaks. Every failure names the seed that repeats it.
@Timeout(120)
final class WireFuzzTest {
  private static final BlockLayout LAYOUT = BlockLayout.attention(2, 4, 1, 4, ElementType.INT8);
  private static final CacheSpace SPACE = CacheSpace.of("fuzz", LAYOUT);
  private static final int KEYS = 6;
  private static final List<BlockKey> ALL = Blocks.keys(SPACE, 0, KEYS);
  private static final int[] SLICE_BYTES = {8, 24, 40, 64, 200, 4096};

  private final LeakLedger leaks = new LeakLedger();
  private final SlabArena arena = leaks.watch(new SlabArena("fuzz", LAYOUT, 2 * KEYS, 4));
  private final ByteBudget budget = leaks.watch(new ByteBudget("fuzz", 1 << 20, 4));
  private final HostTier tier = new HostTier(SPACE, HostTierOptions.defaults(KEYS).withReserveBlocks(2 * KEYS), TierListener.noop());
  private final SliceStream[] shapes = shapes();
  private final List<List<byte[]>> streams = Arrays.stream(shapes)
      .map(shape -> shape.of(ALL, IntStream.range(0, KEYS).boxed().toList())).toList();

  private static SliceStream[] shapes() {
    return Arrays.stream(SLICE_BYTES).boxed().flatMap(bytes -> Arrays.stream(SliceOrder.values()).flatMap(order ->
        IntStream.of(1, 4, 64).mapToObj(window -> new SliceStream(SPACE, window, 0, bytes, order)))).toArray(SliceStream[]::new);
  }

  @AfterEach
  void nothingLeaks() {
    leaks.watch("slots of the tier, once it is closed", tier.arena()::claimedSlots);
    tier.close().block();
    leaks.close();
  }

  @FunctionalInterface
  private interface Case {
    void run(SplittableRandom random);
  }

  private static void each(int from, int count, Case fuzz) {
    for (int seed = from; seed < from + count; seed++) {
      try {
        fuzz.run(new SplittableRandom(seed));
      } catch (Throwable e) {
        throw new AssertionError("seed " + seed + ": " + e, e);
      }
    }
  }

  @Test
  void header_mutated_isRefusedOrHonest() {
    each(0, 40_000, this::header);
  }

  @Test
  void controlMessage_mutated_isRefusedOrWhole() {
    each(1_000_000, 20_000, WireFuzzTest::control);
  }

  @Test
  void getReceiver_mutated_deliversNothingWrong() {
    each(2_000_000, 25_000, this::get);
  }

  @Test
  void putReceiver_mutated_storesNothingWrong() {
    each(3_000_000, 15_000, this::put);
  }

  @Tag("proof")
  @Timeout(1200)
  @Test
  void everything_mutatedMillionsOfTimes_holds() {
    each(10_000_000, 1_500_000, this::header);
    each(20_000_000, 500_000, WireFuzzTest::control);
    each(30_000_000, 500_000, this::get);
    each(40_000_000, 500_000, this::put);
  }

  private void header(SplittableRandom random) {
    List<byte[]> stream = streams.get(random.nextInt(streams.size()));
    byte[] bytes = Mutation.of(stream.get(random.nextInt(stream.size())), random);
    if (random.nextBoolean()) {
      Mutation.withHeaderChecksum(bytes);
    }
    ByteBuf data = Unpooled.wrappedBuffer(bytes);
    int maxSliceBytes = SLICE_BYTES[random.nextInt(SLICE_BYTES.length)];
    try {
      SliceHeader header = SliceHeader.decode(data, SPACE.id(), LAYOUT, maxSliceBytes, KEYS);
      header.range().requireInside(LAYOUT);
      assertEquals(bytes.length, header.bytes() + header.positions().length * header.range().bytes(LAYOUT));
      assertTrue(bytes.length - header.bytes() <= maxSliceBytes);
      assertEquals(header.positions().length, Arrays.stream(header.positions()).distinct().filter(p -> p >= 0 && p < KEYS).count());
      assertEquals(header.positions().length, header.checksums().length);
    } catch (WireFormatException e) {
      assertTrue(e.field().startsWith("slice"), e.toString());
    }
    assertEquals(0, data.readerIndex());
    data.release();
  }

  private static void control(SplittableRandom random) {
    Object message = message(random);
    ControlCodec codec = random.nextBoolean() ? ControlCodec.CBOR : ControlCodec.JSON;
    ByteBuf good = codec.encode(message, UnpooledByteBufAllocator.DEFAULT);
    byte[] bytes = new byte[good.readableBytes()];
    good.readBytes(bytes).release();
    ByteBuf data = Unpooled.wrappedBuffer(Mutation.of(bytes, random));
    try {
      use(codec.decode(data, message.getClass()));
    } catch (WireFormatException e) {
      assertTrue(e.getMessage() != null && e.code() != ErrorCode.BAD_SLICE, e.toString());
    } catch (IllegalArgumentException e) { // a shape of a space that no layout has: what a server refuses as a bad request
      assertTrue(message instanceof Handshake.Hello, e.toString());
    }
    data.release();
  }

  private static Messages.Bits bits(SplittableRandom random) {
    return Messages.Bits.of(Presence.of(KEYS, BitSet.valueOf(new long[] {random.nextLong(1 << KEYS)})));
  }

  private static Object message(SplittableRandom random) {
    Messages.Keys keys = Messages.Keys.of(ALL);
    return switch (random.nextInt(12)) {
      case 0 -> new Handshake.Hello(List.of(1), Handshake.Space.of(SPACE), "fuzz");
      case 1 -> new Handshake.Welcome(1, "server", "node", "tier", Handshake.Space.of(SPACE), 4096, 8, 100, null);
      case 2 -> new Messages.KeysRequest(keys);
      case 3 -> new Messages.MatchReply(3);
      case 4 -> bits(random);
      case 5 -> new Messages.GetRequest(keys, "ADMIT", "LAYER_FIRST", 0, 4096, 8, 7);
      case 6 -> new Messages.Found(bits(random), bits(random), bits(random), bits(random));
      case 7 -> new PutMessages.PutRequest(keys, 4096, 8, 7);
      case 8 -> new PutMessages.PutSignal(new PutMessages.Room(1, 2, Messages.Bits.of(Presence.of(4, new BitSet()))), null);
      case 9 -> new PutMessages.PutSignal(null, List.of(new PutMessages.Stored(1, "dram", "VOLATILE", 17)));
      case 10 -> new Messages.Event(5, "stored", new byte[BlockKey.BYTES], null, null);
      default -> new Messages.DrainRequest(7);
    };
  }

  /// What either side does with a message that it could read.
  private static void use(Object message) {
    switch (message) {
      case Handshake.Hello hello when hello.space() != null -> hello.space().difference(SPACE);
      case Handshake.Welcome welcome -> welcome.space().spaceId();
      case Messages.KeysRequest request -> request.keys().in(SPACE.id(), KEYS);
      case Messages.MatchReply reply -> reply.of(KEYS);
      case Messages.Bits bits -> bits.of(KEYS);
      case Messages.GetRequest request -> {
        request.keys().in(SPACE.id(), KEYS);
        request.miss();
        request.sliceOrder();
      }
      case Messages.Found found -> {
        found.requireOf(KEYS);
        assertTrue(found.coming().length() <= KEYS);
      }
      case PutMessages.PutRequest request -> request.keys().in(SPACE.id(), KEYS);
      case PutMessages.PutSignal signal when signal.room() != null -> signal.room().requireIn(KEYS, KEYS);
      case PutMessages.PutSignal signal when signal.stored() != null -> signal.stored().forEach(stored -> stored.receipt(ALL));
      case Messages.Event event -> event.event();
      default -> {}
    }
  }

  /// One payload that was fed, whose buffer must be released in the end.
  private static Payload fed(byte[] bytes, List<ByteBuf> buffers) {
    ByteBuf data = Unpooled.buffer(bytes.length + 1).writeBytes(bytes); // never the empty buffer, which is nobody's
    buffers.add(data);
    return ByteBufPayload.create(data);
  }

  /// The faults of a stream: bytes of one or two payloads, or their order. Answers whether a header CRC was made to hold.
  private static boolean broken(List<byte[]> payloads, int head, SplittableRandom random) {
    int at = random.nextInt(payloads.size());
    switch (random.nextInt(8)) {
      case 0 -> payloads.remove(at);
      case 1 -> payloads.add(random.nextInt(payloads.size() + 1), payloads.get(at));
      case 2 -> payloads.add(random.nextInt(payloads.size()), payloads.remove(at));
      case 3 -> payloads.subList(at, payloads.size()).clear();
      default -> {
        payloads.set(at, Mutation.of(payloads.get(at), random));
        if (at >= head && random.nextInt(3) != 0) {
          Mutation.withHeaderChecksum(payloads.get(at));
          return true;
        }
      }
    }
    return false;
  }

  /// A peer that gives payloads as it is asked for them, or pushes them all.
  private static final class Peer implements Subscription {
    private final CoreSubscriber<Payload> to;
    private final List<byte[]> payloads;
    private final List<ByteBuf> buffers;
    private long credit;
    private int next;
    private boolean sending;
    private boolean over;

    Peer(CoreSubscriber<Payload> to, List<byte[]> payloads, List<ByteBuf> buffers, boolean pushing) {
      this.to = to;
      this.payloads = payloads;
      this.buffers = buffers;
      this.credit = pushing ? Integer.MAX_VALUE : 0;
    }

    @Override
    public void request(long n) {
      credit += n;
      send();
    }

    private void send() {
      if (sending) {
        return;
      }
      sending = true;
      while (!over && credit > 0 && next < payloads.size()) {
        credit--;
        to.onNext(fed(payloads.get(next++), buffers));
      }
      if (!over && next == payloads.size()) {
        over = true;
        to.onComplete();
      }
      sending = false;
    }

    @Override
    public void cancel() {
      over = true;
    }
  }

  private static void requireTyped(@Nullable Throwable failure) {
    assertTrue(failure == null || failure instanceof KvException || failure instanceof CancellationException, () -> trace(failure));
  }

  private static String trace(@Nullable Throwable failure) {
    StringWriter out = new StringWriter();
    if (failure != null) {
      failure.printStackTrace(new PrintWriter(out));
    }
    return "failure must be typed (was " + out + ")";
  }

  private static void requireReleased(List<ByteBuf> buffers) {
    for (int i = 0; i < buffers.size(); i++) {
      assertEquals(0, buffers.get(i).refCnt(), "holds on payload " + i);
    }
  }

  private void get(SplittableRandom random) {
    int shape = random.nextInt(shapes.length);
    SliceStream stream = shapes[shape];
    List<byte[]> payloads = new ArrayList<>();
    BitSet all = new BitSet();
    all.set(0, KEYS);
    Messages.Bits none = Messages.Bits.of(Presence.of(KEYS, new BitSet()));
    Messages.Bits found = Messages.Bits.of(Presence.of(KEYS, all));
    payloads.add(bytes(new Messages.Found(found, found, none, none)));
    payloads.addAll(streams.get(shape));
    boolean forged = broken(payloads, 1, random);
    List<ByteBuf> buffers = new ArrayList<>();
    Reader reader = new Reader(payloads, !forged, random.nextInt(20) == 0 ? random.nextInt(1, 5) : Integer.MAX_VALUE);
    GetReceiver receiver = new GetReceiver(
        new GetReceiver.Setting(arena, SPACE.id(), budget.permits(), stream.maxSliceBytes(), Math.min(stream.windowBlocks(), KEYS), 4, 0,
            stream.order(), ControlCodec.CBOR, error -> error),
        ALL, decision -> {}, reader::refused);
    Peer peer = new Peer(receiver, payloads, buffers, random.nextInt(20) == 0);
    receiver.onSubscribe(peer);
    peer.send();
    receiver.read(reader);
    if (!reader.ended) {
      receiver.cancel();
    }
    requireTyped(reader.failure);
    requireReleased(buffers);
    leaks.assertEmpty();
  }

  private static byte[] bytes(Object message) {
    ByteBuf data = ControlCodec.CBOR.encode(message, UnpooledByteBufAllocator.DEFAULT);
    byte[] bytes = new byte[data.readableBytes()];
    data.readBytes(bytes).release();
    return bytes;
  }

  /// Reads what landed and compares: with what a block of that key has, or, if a CRC was forged, with what came.
  private static final class Reader implements CoreSubscriber<GetReceiver.Landed> {
    private final List<byte[]> payloads;
    private final boolean honest;
    private final int most;
    private @Nullable Subscription subscription;
    private @Nullable Throwable failure;
    private boolean ended;
    private int read;

    Reader(List<byte[]> payloads, boolean honest, int most) {
      this.payloads = payloads;
      this.honest = honest;
      this.most = most;
    }

    @Override
    public void onSubscribe(Subscription s) {
      subscription = s;
      s.request(3);
    }

    @Override
    public void onNext(GetReceiver.Landed landed) {
      byte[] payload = payloads.get(read + 1); // the decision is the first
      int length = landed.header().range().bytes(LAYOUT);
      for (int i = 0; i < landed.drafts().size(); i++) {
        BlockDraft draft = landed.drafts().get(i);
        assertEquals(ALL.get(landed.header().positions()[i]), draft.key());
        if (draft.unstated(landed.header().range()).isEmpty() && landed.header().range().isWhole()) {
          try (LayerSpan span = draft.span(landed.header().range())) {
            int from = landed.header().bytes() + i * length;
            byte[] came = Arrays.copyOfRange(payload, from, from + length);
            assertTrue(Arrays.equals(came, span.memory().toArray(ValueLayout.JAVA_BYTE)), "bytes that landed are those that came");
            if (honest) {
              Blocks.assertBytes(span);
            }
          }
        }
      }
      if (landed.header().endsWindow()) {
        for (BlockDraft draft : landed.drafts()) {
          try (LayerSpan whole = draft.span(GranuleRange.all(LAYOUT))) { // complete, then
            if (honest) {
              Blocks.assertBytes(whole);
            }
          }
        }
      }
      if (++read == most && subscription != null) {
        ended = true;
        subscription.cancel();
      } else if (subscription != null) {
        subscription.request(1);
      }
    }

    @Override
    public void onError(Throwable error) {
      ended = true;
      failure = error;
    }

    @Override
    public void onComplete() {
      ended = true;
    }

    void refused(Throwable error) {
      onError(error);
    }
  }

  private void put(SplittableRandom random) {
    int shape = random.nextInt(shapes.length);
    SliceStream stream = shapes[shape];
    List<byte[]> payloads = new ArrayList<>(streams.get(shape));
    boolean forged = broken(payloads, 0, random);
    List<ByteBuf> buffers = new ArrayList<>();
    Signals signals = new Signals();
    PutReceiver receiver = new PutReceiver(signals, new PutReceiver.Setting(tier, budget.permits(), 2, stream.maxSliceBytes(),
        Math.min(stream.windowBlocks(), KEYS), WireFuzzTest::payload, Duration.ofMinutes(1), VirtualTimeScheduler.create(),
        () -> signals.over++), ALL);
    Peer peer = new Peer(receiver, payloads, buffers, random.nextInt(20) == 0);
    receiver.onSubscribe(peer);
    peer.send();
    if (!signals.ended) {
      receiver.cancel();
    }
    requireTyped(signals.failure);
    assertTrue(signals.over > 0, "the end is told");
    requireReleased(buffers);
    requireHonest(signals.failure == null && signals.ended, forged);
    leaks.assertEmpty();
    tier.remove(ALL).block();
    assertEquals(0, tier.arena().claimedSlots(), "slots of the tier");
  }

  /// What is visible is complete and right; what succeeded is visible.
  private void requireHonest(boolean succeeded, boolean forged) {
    BlockScope scope = new BlockScope();
    int count = 0;
    for (Block block : tier.lease(ALL, OnMiss.SKIP, scope).flatMapMany(lease -> lease.windows(KEYS, scope))
        .flatMapIterable(window -> window).map(Leased::block).toIterable()) {
      count++;
      block.verify("fuzz");
      if (!forged) {
        Blocks.assertBytes(block);
      }
    }
    scope.close();
    if (succeeded) {
      assertEquals(KEYS, count);
    }
  }

  private static Payload payload(PutMessages.PutSignal signal) {
    return ByteBufPayload.create(ControlCodec.CBOR.encode(signal, UnpooledByteBufAllocator.DEFAULT));
  }

  private static final class Signals implements CoreSubscriber<Payload> {
    private @Nullable Throwable failure;
    private boolean ended;
    private int over;

    @Override
    public void onSubscribe(Subscription subscription) {
      subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(Payload payload) {
      payload.release();
    }

    @Override
    public void onError(Throwable error) {
      ended = true;
      failure = error;
    }

    @Override
    public void onComplete() {
      ended = true;
    }
  }
}
