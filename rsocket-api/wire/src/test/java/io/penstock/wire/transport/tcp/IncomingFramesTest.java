package io.penstock.wire.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.penstock.wire.transport.ConnectionGauges;
import io.penstock.wire.transport.ConnectionLimits;
import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.ConnectionSlots;
import io.penstock.wire.transport.ReceiveLimits;
import io.penstock.wire.transport.SourceAddress;
import io.penstock.wire.transport.frame.FrameRoom;
import io.rsocket.frame.ErrorFrameCodec;
import io.rsocket.frame.FrameHeaderCodec;
import io.rsocket.frame.FrameType;
import io.rsocket.frame.RequestNFrameCodec;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.netty.Connection;

/// What a server lets its peers send, without sockets and in a time of the test's.
final class IncomingFramesTest {
  private static final int LONG = 100_000;

  private final List<@Nullable Throwable> causes = new ArrayList<>();
  private final List<Peer> peers = new ArrayList<>();
  private TcpServerOptions options = TcpServerOptions.on("127.0.0.1", 0)
      .withLimits(ConnectionLimits.defaults().withMaxFrameBytes(1 << 20))
      .withReceive(ReceiveLimits.defaults().withRoomBytes(2 << 20).withAskedBytes(LONG));
  private IncomingFrames.@Nullable Server server;

  private final class Peer extends EmbeddedChannel {
    final TcpConnection connection;
    final List<byte[]> frames = new ArrayList<>();
    private final String address;

    Peer(String address) {
      this.address = address;
      if (server == null) {
        server = new IncomingFrames.Server(options);
      }
      freezeTime();
      connection = TcpConnection.accept(Connection.from(this), Framing.LENGTHS, options, new ConnectionListener() {
        @Override
        public void closed(ConnectionGauges gone, @Nullable Throwable cause) {
          causes.add(cause);
        }
      }, server);
      connection.receive().map(ByteBufUtil::getBytes).subscribe(frames::add, failed -> {});
      peers.add(this);
    }

    @Override
    protected SocketAddress remoteAddress0() {
      return address == null ? null : new InetSocketAddress(address, 1);
    }

    Peer setUp() {
      return sends(10, 10);
    }

    /// The length of a frame and its first bytes.
    Peer sends(int length, int bytes) {
      writeInbound(Unpooled.buffer().writeMedium(length).writeZero(bytes));
      return this;
    }

    Peer sendsMore(int bytes) {
      writeInbound(Unpooled.wrappedBuffer(new byte[bytes]));
      return this;
    }

    void passes(Duration time) {
      advanceTimeBy(time.toNanos(), TimeUnit.NANOSECONDS);
      runScheduledPendingTasks();
      runPendingTasks();
    }

    boolean reads() {
      return config().isAutoRead();
    }

    /// The error that ended it.
    String told() {
      String told = "";
      ByteBuf sent = Unpooled.buffer();
      for (ByteBuf out = readOutbound(); out != null; out = readOutbound()) {
        sent.writeBytes(out);
        out.release();
      }
      while (sent.isReadable()) {
        ByteBuf frame = sent.readSlice(sent.readUnsignedMedium());
        if (FrameHeaderCodec.frameType(frame) == FrameType.ERROR) {
          told = Integer.toHexString(ErrorFrameCodec.errorCode(frame)) + " " + ErrorFrameCodec.dataUtf8(frame);
        }
      }
      return told;
    }
  }

  private Peer peer() {
    return new Peer("10.0.0.1");
  }

  private FrameRoom room() {
    return server.room();
  }

  @AfterEach
  void nothingIsHeld() {
    peers.forEach(peer -> {
      peer.told();
      ChannelFuture unused = peer.close();
      peer.finishAndReleaseAll();
    });
    assertThat(room().taken()).isZero();
    assertThat(room().waiting()).isZero();
    assertThat(server.accepted().count()).isZero();
  }

  @Test
  void beforeSetup_aFrameIsShort_afterwardsLong() {
    Peer rude = peer().sends((64 << 10) + 1, 10);
    assertThat(rude.told()).isEqualTo("101 frame length must be in [6, 65536] (was 65537)");

    Peer polite = peer().setUp().sends(1 << 20, 1 << 20).sends((1 << 20) + 1, 1);
    assertThat(polite.frames).hasSize(2);
    assertThat(polite.told()).isEqualTo("101 frame length must be in [6, 1048576] (was 1048577)");
  }

  @Test
  void setup_mustComeInTime() {
    Peer silent = peer();
    Peer slow = peer().sends(10, 5);
    Peer quick = peer().setUp();
    silent.passes(Duration.ofMillis(4_999));
    assertThat(silent.told()).isEmpty();

    for (Peer each : List.of(silent, slow, quick)) {
      each.passes(Duration.ofSeconds(5));
    }

    assertThat(silent.told()).isEqualTo("3 SETUP must come within 5000 ms (was not there)");
    assertThat(slow.told()).isEqualTo("3 SETUP must come within 5000 ms (was not there)");
    assertThat(quick.told()).isEmpty();
    assertThat(quick.connection.isDisposed()).isFalse();
  }

  @Test
  void frame_mustBeCompleteInTime_howeverItDrips() {
    Peer peer = peer().setUp().sends(LONG, 10);
    for (int i = 0; i < 9; i++) {
      peer.passes(Duration.ofSeconds(1));
      peer.sendsMore(1);
    }
    assertThat(peer.told()).isEmpty();

    peer.passes(Duration.ofSeconds(1));

    assertThat(peer.told()).isEqualTo("101 frame must be complete within 10000 ms (was 19 of 100000 bytes)");
    assertThat(room().taken()).isZero();
  }

  @Test
  void frames_oneAfterTheOther_mayTakeLongerThanOne() {
    Peer peer = peer().setUp().sends(LONG, 10);
    for (int i = 0; i < 30; i++) {
      peer.passes(Duration.ofSeconds(1));
      peer.sendsMore(LONG - 10).sends(LONG, 10);
    }
    assertThat(peer.told()).isEmpty();
    assertThat(peer.frames).hasSize(31);
  }

  @Test
  void unfinishedFrames_takeTheirLength_andWaitWithoutReading_whenThereIsNoRoom() {
    List<Peer> greedy = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      greedy.add(peer().setUp().sends(600_000, 100));
    }
    assertThat(room().taken()).isEqualTo(1_200_000); // the third finds less than its double
    assertThat(room().waiting()).isEqualTo(48);
    assertThat(greedy.stream().filter(Peer::reads)).hasSize(2);

    assertThat(peer().setUp().sends(LONG, LONG - 1).sendsMore(1).frames).hasSize(2);

    greedy.get(0).sendsMore(600_000 - 100);
    greedy.get(2).runPendingTasks();
    assertThat(greedy.get(2).reads()).isTrue();
    greedy.get(2).sendsMore(600_000 - 100);
    assertThat(greedy.get(2).frames).hasSize(2);
    assertThat(greedy.get(2).frames.get(1)).hasSize(600_000);
  }

  @Test
  void frameThatStandsStill_makesWay_whenAnotherWaits() {
    Peer first = peer().setUp().sends(600_000, 100);
    Peer second = peer().setUp().sends(600_000, 100);
    first.passes(Duration.ofSeconds(1));
    assertThat(first.told()).isEmpty();
    Peer third = peer().setUp().sends(600_000, 100);
    assertThat(third.reads()).isFalse();

    first.passes(Duration.ofSeconds(1));
    second.passes(Duration.ofSeconds(1));
    third.runPendingTasks();

    assertThat(first.told())
        .isEqualTo("101 frame must be complete within 1000 ms while others wait for room (was 100 of 600000 bytes)");
    assertThat(second.told()).isEmpty();
    assertThat(third.reads()).isTrue();
  }

  @Test
  void frameThatThisSideAskedFor_needsNoRoom() {
    peer().setUp().sends(1 << 20, 100);
    peer().setUp().sends(500_000, 100);
    Peer peer = peer().setUp();
    peer.sends(LONG, 1).sendsMore(LONG - 1);
    int before = (int) room().taken();
    peer.connection.sendFrame(1, RequestNFrameCodec.encode(ByteBufAllocator.DEFAULT, 1, 1));

    peer.sends(LONG, 1);

    assertThat(room().taken()).isEqualTo(before);
    assertThat(peer.reads()).isTrue();
  }

  @Test
  void newcomers_makeWayByAddress_theOldestFirst() {
    options = options.withSlots(ConnectionSlots.of(4).withNewcomers(3));
    Peer a = new Peer("10.0.0.1");
    Peer b = new Peer("10.0.0.1");
    Peer other = new Peer("10.0.0.2");
    Peer c = new Peer("10.0.0.1");

    assertThat(a.told()).startsWith("3 connections that are not set up must be <= 3 (was 4");
    assertThat(a.isOpen()).isFalse();
    Peer third = new Peer("10.0.0.3");
    assertThat(b.isOpen()).isFalse();
    assertThat(List.of(other, c, third)).allMatch(Peer::isOpen);
    for (int i = 0; i < 100; i++) {
      new Peer("10.0.0.4");
    }
    assertThat(List.of(other, c, third)).filteredOn(Peer::isOpen).hasSizeGreaterThanOrEqualTo(2);
    assertThat(new Peer("10.0.0.1").setUp().frames).hasSize(1);
  }

  @Test
  void connectionsThatAreSetUp_areBounded_inAllAndByAddress() {
    options = options.withSlots(ConnectionSlots.of(3).withByAddress(2));
    new Peer("10.0.0.1").setUp();
    Peer leaving = new Peer("10.0.0.1").setUp();
    Peer third = new Peer("10.0.0.1").setUp();
    new Peer("2001:db8::1").setUp();
    Peer fifth = new Peer("2001:db8::2").setUp();

    assertThat(third.told()).isEqualTo("3 connections of one address must be <= 2 (was 3)");
    assertThat(third.frames).isEmpty();
    assertThat(fifth.told()).isEqualTo("3 connections must be <= 3 (was 4)");
    ChannelFuture unused = leaving.close();
    leaving.runPendingTasks();
    assertThat(new Peer("10.0.0.1").setUp().frames).hasSize(1);
  }

  @Test
  void addresses_oneNetworkOfIpv6_andAllUnixSockets_countAsOne() {
    assertThat(SourceAddress.of(new InetSocketAddress("2001:db8::1", 1)))
        .isEqualTo(SourceAddress.of(new InetSocketAddress("2001:db8::2", 2)))
        .isNotEqualTo(SourceAddress.of(new InetSocketAddress("2001:db8:0:1::1", 1)));
    assertThat(SourceAddress.of(new InetSocketAddress("10.0.0.1", 1)))
        .isEqualTo(SourceAddress.of(new InetSocketAddress("10.0.0.1", 2)))
        .isNotEqualTo(SourceAddress.of(new InetSocketAddress("10.0.0.2", 1)));
    assertThat(SourceAddress.of(null)).isEqualTo(SourceAddress.of(new DomainSocketAddress("/a")));
    peer();
  }
}
