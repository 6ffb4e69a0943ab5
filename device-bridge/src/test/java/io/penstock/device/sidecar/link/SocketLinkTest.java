package io.penstock.device.sidecar.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.KvException;
import io.penstock.device.sidecar.SideCarFailure;
import io.penstock.device.sidecar.link.FrameCodec.MalformedFrameException;
import io.penstock.device.sidecar.link.Link.Frame;
import io.penstock.device.sidecar.link.SideCarMessage.Keep;
import io.penstock.device.sidecar.link.SideCarMessage.Ping;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A link whose peer does not read as fast as it is written to.
@Timeout(120)
final class SocketLinkTest {
  private static final int SECONDS = 60;
  /// More than a socket takes: 8 KiB each.
  private static final int FRAMES = 2000;
  private static final Keep LONG = new Keep(LongStream.range(0, 1000).boxed().toList());

  @TempDir
  private Path folder;

  private final CompletableFuture<Link> opened = new CompletableFuture<>();
  private final CompletableFuture<KvException> closed = new CompletableFuture<>();
  private final List<Frame> heard = new ArrayList<>();
  private SocketChannel peer;

  private final class Events implements Link.Events {
    @Override
    public void opened(Link link) {
      opened.complete(link);
    }

    @Override
    public void received(Frame frame) {
      heard.add(frame);
    }

    @Override
    public void malformed(MalformedFrameException problem) {
      closed.completeExceptionally(problem);
    }

    @Override
    public void closed(KvException why) {
      closed.complete(why);
    }
  }

  @BeforeEach
  void connect() throws IOException {
    UnixDomainSocketAddress address = UnixDomainSocketAddress.of(folder.resolve("s"));
    try (ServerSocketChannel listening = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      listening.bind(address);
      peer = SocketChannel.open(address);
      SocketChannel accepted = listening.accept();
      Thread.ofPlatform().daemon().start(() -> SocketLink.run(accepted, new Events(), () -> false));
    }
  }

  @AfterEach
  void hangUp() throws IOException {
    peer.close();
  }

  @Test
  void frames_thatTheSocketDoesNotTakeAtOnce_arriveInOrder_andTheLastOneEndsIt() throws Exception {
    Link link = opened.get(SECONDS, TimeUnit.SECONDS);
    for (int i = 1; i <= FRAMES; i++) {
      link.send(new Frame(i, LONG));
    }
    link.sendLast(new Frame(FRAMES + 1, new Ping()));
    link.send(new Frame(FRAMES + 2, new Ping())); // too late
    List<Frame> arrived = new ArrayList<>();
    FrameReader frames = new FrameReader();
    while (peer.read(frames.room()) >= 0) {
      frames.read(arrived::add);
    }
    assertThat(arrived).extracting(Frame::request)
        .containsExactlyElementsOf(LongStream.rangeClosed(1, FRAMES + 1).boxed().toList());
    assertThat(arrived.get(FRAMES - 1).message()).isEqualTo(LONG);
    assertThat(closed.get(SECONDS, TimeUnit.SECONDS)).isInstanceOf(SideCarFailure.class);
  }

  @Test
  void peer_thatNeverReads_isHungUpOn_beforeMuchIsKeptForIt() throws Exception {
    Link link = opened.get(SECONDS, TimeUnit.SECONDS);
    for (int i = 1; i <= 3 * FRAMES; i++) { // 4,096, and what the socket takes
      link.send(new Frame(i, LONG));
    }
    assertThat(closed.get(SECONDS, TimeUnit.SECONDS)).isInstanceOf(SideCarFailure.class);
  }

  @Test
  void peer_thatHangsUp_isHeardOf_afterWhatItSaid() throws Exception {
    opened.get(SECONDS, TimeUnit.SECONDS);
    peer.write(FrameCodec.encode(new Frame(1, new Ping())));
    peer.close();
    assertThat(closed.get(SECONDS, TimeUnit.SECONDS)).hasMessageContaining("the peer has gone");
    assertThat(heard).containsExactly(new Frame(1, new Ping()));
  }
}
