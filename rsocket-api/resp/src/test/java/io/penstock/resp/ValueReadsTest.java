package io.penstock.resp;

import static io.penstock.resp.RespClient.join;
import static io.penstock.resp.RespClient.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(300)
@SuppressWarnings("deprecation") // Netty has no other way to say how long its buffers are
final class ValueReadsTest {
  private static final int VALUE = 5000;

  private final ByteBuffer memory = ByteBuffer.allocateDirect(VALUE + 2);
  private boolean isRoom = true;
  private boolean isShared;
  private boolean hasCopied;
  private final List<Integer> came = new ArrayList<>();
  private final RecvByteBufAllocator.Handle reads = new ValueReads(new ValueReads.Reader() {
    @Override
    public ValueReads.@Nullable Room room() {
      return isRoom ? new ValueReads.Room(memory.duplicate(), VALUE) : null;
    }

    @Override
    public boolean hasRoom() {
      return isRoom;
    }

    @Override
    public boolean hasCopied() {
      return hasCopied;
    }

    @Override
    public void came(int bytes) {
      came.add(bytes);
    }

    @Override
    public boolean isShared() {
      return isShared;
    }
  }).newHandle();

  private ByteBuf read(int bytes) {
    ByteBuf read = reads.allocate(UnpooledByteBufAllocator.DEFAULT);
    for (int i = 0; i < bytes; i++) {
      read.writeByte(i == VALUE ? '\r' : i == VALUE + 1 ? '\n' : i);
    }
    reads.attemptedBytesRead(read.capacity());
    reads.lastBytesRead(bytes);
    return read;
  }

  private boolean goesOnAfter(int bytes) {
    reads.reset(new DefaultChannelConfig(new EmbeddedChannel()));
    reads.incMessagesRead(1);
    read(bytes).release();
    return ((RecvByteBufAllocator.ExtendedHandle) reads).continueReading(() -> true);
  }

  @Test
  void aSocket_isReadAgainAtOnce_butNotBehindAValue() {
    assertThat(goesOnAfter(VALUE + 2)).isFalse();
    assertThat(goesOnAfter(VALUE + 1)).isTrue();
    assertThat(goesOnAfter(VALUE)).isTrue();
    isRoom = false;
    assertThat(goesOnAfter(1024)).isTrue();
  }

  /// A read that brings the request for a value, and no byte of it.
  private boolean goesOnBeforeAValue() {
    isRoom = false;
    reads.reset(new DefaultChannelConfig(new EmbeddedChannel()));
    reads.incMessagesRead(1);
    read(1024).release();
    isRoom = true;
    return ((RecvByteBufAllocator.ExtendedHandle) reads).continueReading(() -> true);
  }

  @Test
  void aSocket_leavesTheOthersOfItsLoopATurn_beforeAValue() {
    assertThat(goesOnBeforeAValue()).isTrue();
    isShared = true;
    assertThat(goesOnBeforeAValue()).isFalse();
    isRoom = false;
    assertThat(goesOnAfter(1024)).as("requests without a value").isTrue();
  }

  /// Also where its bytes have no memory of a tier to go to.
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aSocket_leavesTheOthersOfItsLoopATurn_inALongValue(boolean hasMemory) {
    isRoom = hasMemory;
    reads.reset(new DefaultChannelConfig(new EmbeddedChannel()));
    int reading = 1;
    for (; reading < 1_000; reading++) {
      reads.incMessagesRead(0);
      read(VALUE).release();
      if (!((RecvByteBufAllocator.ExtendedHandle) reads).continueReading(() -> true)) {
        break;
      }
      isShared = true;
    }
    assertThat(reading * VALUE).isBetween(2 << 20, (2 << 20) + VALUE);
  }

  /// What comes behind [ValueReads.Ends], as texts of where it lies and how long it is.
  private List<String> behindEnds(ByteBuf read) {
    List<String> came = new ArrayList<>();
    EmbeddedChannel channel = new EmbeddedChannel(new ValueReads.Ends(), new ChannelInboundHandlerAdapter() {
      @Override
      public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf one = (ByteBuf) message;
        one.setByte(0, 'X');
        boolean isMemory = memory.get(0) == 'X';
        memory.put(0, (byte) 0);
        came.add((isMemory ? "memory " : "copy ") + one.readableBytes());
        one.release();
      }
    });
    channel.writeInbound(read);
    channel.finishAndReleaseAll();
    return came;
  }

  @Test
  void aValueAndItsEnd_areReadAtOnce() {
    assertThat(behindEnds(read(VALUE + 2))).containsExactly("memory " + (VALUE + 2));
  }

  @Test
  void halfAnEnd_isTakenOutOfTheMemoryOfTheValue() {
    assertThat(behindEnds(read(VALUE + 1))).containsExactly("memory " + VALUE, "copy 1");
  }

  @Test
  void aPartOfAValue_staysInItsMemory() {
    assertThat(behindEnds(read(VALUE - 1))).containsExactly("memory " + (VALUE - 1));
  }

  @Test
  void buffers_growWhileReadsFillThem_andAreShortBehindAValue() {
    isRoom = false;
    List<Integer> lengths = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      ByteBuf buffer = reads.allocate(UnpooledByteBufAllocator.DEFAULT);
      lengths.add(buffer.capacity());
      reads.attemptedBytesRead(buffer.capacity());
      reads.lastBytesRead(buffer.capacity());
      buffer.release();
    }
    assertThat(lengths).containsExactly(4 << 10, 16 << 10, 64 << 10, 256 << 10, 256 << 10, 256 << 10);
    isRoom = true;
    read(VALUE).release();
    isRoom = false;
    ByteBuf next = reads.allocate(UnpooledByteBufAllocator.DEFAULT);
    assertThat(next.capacity()).isEqualTo(1 << 10);
    next.release();
  }

  private int nextLength() {
    ByteBuf buffer = reads.allocate(UnpooledByteBufAllocator.DEFAULT);
    buffer.release();
    return buffer.maxCapacity() == Integer.MAX_VALUE ? reads.guess() : buffer.maxCapacity();
  }

  @Test
  void aBuffer_isShort_behindOneThatTookAWholeValueWithItsRequest() {
    isRoom = false;
    read(4 << 10).release();
    assertThat(nextLength()).isEqualTo(16 << 10);
    hasCopied = true;
    assertThat(nextLength()).isEqualTo(1 << 10);
    hasCopied = false;
    assertThat(nextLength()).isEqualTo(1 << 10);
  }

  @Test
  void whatComes_isTold_andThatNothingMoreComes() {
    read(VALUE).release();
    reads.lastBytesRead(-1);
    assertThat(came).containsExactly(VALUE, -1);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void valuesThatComeInAnyPieces_areWhole_andRequestsBehindThemAreAnswered(long seed) throws IOException {
    Random random = new Random(seed);
    try (OpenDoor door = OpenDoor.open(); RespClient client = door.connect()) {
      for (int round = 0; round < 60; round++) {
        int length = List.of(65_536, 65_900, 65_983, 66_048, 200_000, 262_144, 262_655, 700_000)
            .get(random.nextInt(8)) + random.nextInt(3);
        byte[] value = new byte[length];
        random.nextBytes(value);
        byte[] all = join(request("SET", "k", value), request("GET", "k"));
        int end = all.length - request("GET", "k").length;
        int[] cuts = {random.nextInt(end), end - 3 + random.nextInt(5), end + random.nextInt(8)};
        Arrays.sort(cuts);
        int at = 0;
        for (int cut : cuts) {
          client.send(all, at, cut);
          at = cut;
        }
        client.send(all, at, all.length);
        assertThat(client.line()).as("seed " + seed + ", round " + round).isEqualTo("+OK");
        assertThat(client.line()).isEqualTo("$" + length);
        assertThat(client.read(length)).isEqualTo(value);
        assertThat(client.text(2)).isEqualTo("\r\n");
      }
    }
  }

  /// Where a connection is with what it sends.
  private static final class Sender implements AutoCloseable {
    private final RespClient client;
    private final int number;
    private byte[] value = new byte[0];
    private byte[] all = new byte[0];
    private int at;

    Sender(RespClient client, int number) {
      this.client = client;
      this.number = number;
    }

    boolean isWhole() {
      return at == all.length;
    }

    /// Stores a value, and asks for two things behind it without waiting.
    void begin(Random random) {
      value = new byte[List.of(3, 5_000, 65_536, 65_983, 262_144, 262_655, 700_000).get(random.nextInt(7))
          + random.nextInt(3)];
      random.nextBytes(value);
      all = join(join(request("SET", "k" + number, value, "EX", "100"), request("EXISTS", "k" + number)),
          request("GET", "k" + number));
      at = 0;
    }

    void send(Random random) throws IOException {
      int to = Math.min(all.length, at + 1 + random.nextInt(1 << random.nextInt(18)));
      client.send(all, at, to);
      at = to;
    }

    void check(String what) throws IOException {
      assertThat(client.line()).as(what).isEqualTo("+OK");
      assertThat(client.line()).as(what).isEqualTo(":1");
      assertThat(client.line()).as(what).isEqualTo("$" + value.length);
      assertThat(client.read(value.length)).as(what).isEqualTo(value);
      assertThat(client.text(2)).isEqualTo("\r\n");
    }

    @Override
    public void close() throws IOException {
      client.close();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void valuesOfConnectionsThatShareALoop_areWhole_thoughOthersEndInTheMiddle(long seed) throws IOException {
    Random random = new Random(seed);
    try (OpenDoor door = OpenDoor.open()) {
      List<Sender> senders = new ArrayList<>();
      try {
        for (int i = 0; i < 4; i++) {
          senders.add(new Sender(door.connect(), i));
        }
        for (int round = 0; round < 40; round++) {
          for (Sender each : senders) {
            each.begin(random);
          }
          try (Sender gone = new Sender(door.connect(), senders.size())) {
            gone.begin(random);
            int stays = random.nextInt(8);
            List<Sender> open = new ArrayList<>(senders);
            while (!open.isEmpty()) {
              Sender next = open.get(random.nextInt(open.size()));
              next.send(random);
              if (next.isWhole()) {
                next.check("seed " + seed + ", round " + round);
                open.remove(next);
              }
              if (stays-- > 0 && gone.all.length - gone.at > 200_000) {
                gone.send(random);
              }
            }
            gone.client.reset();
          }
        }
      } finally {
        for (Sender each : senders) {
          each.close();
        }
      }
      door.settle();
      assertThat(door.figures().writes()).isEqualTo(160);
    }
  }
}
