package io.penstock.device.sidecar.server;

import io.penstock.device.sidecar.SideCarCode;
import io.penstock.device.sidecar.SideCarFailure;
import io.penstock.device.sidecar.link.FrameCodec;
import io.penstock.device.sidecar.link.FrameCodec.MalformedFrameException;
import io.penstock.device.sidecar.link.FrameReader;
import io.penstock.device.sidecar.link.Link;
import io.penstock.device.sidecar.link.Link.Dialer;
import io.penstock.device.sidecar.link.Link.Frame;
import java.nio.ByteBuffer;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import reactor.test.scheduler.VirtualTimeScheduler;

/// Connections to one node under a virtual clock: frames travel as bytes, cut anywhere, in order, for as long as chance
/// wants; they get lost when a connection is cut.
final class SimulatedLinks {
  static final UserPrincipal ME = () -> "me";

  private final VirtualTimeScheduler clock;
  private final Random random;
  private final long maxDelayNanos;
  private final List<Cable> cables = new ArrayList<>();
  private SideCarNode node;
  private boolean refusing;

  SimulatedLinks(VirtualTimeScheduler clock, Random random, long maxDelayNanos) {
    this.clock = clock;
    this.random = random;
    this.maxDelayNanos = maxDelayNanos;
  }

  /// The node that answers from now on; null for none.
  void node(SideCarNode answering) {
    node = answering;
  }

  void refuse(boolean all) {
    refusing = all;
  }

  Dialer dialer(Consumer<Cable> connected) {
    return client -> dial(client, connected);
  }

  private void dial(Link.Events client, Consumer<Cable> connected) {
    clock.schedule(() -> {
      if (refusing || node == null) {
        client.closed(SideCarFailure.of(SideCarCode.DOWN, SideCarFailure.NO_REGION, "no node listens"));
        return;
      }
      Cable cable = new Cable();
      cables.add(cable);
      connected.accept(cable);
      cable.client.open(client, cable.server);
      cable.server.open(node.accept(ME), cable.client);
    }, delay(), TimeUnit.NANOSECONDS);
  }

  private long delay() {
    return 1 + (long) (random.nextDouble() * maxDelayNanos);
  }

  List<Cable> open() {
    cables.removeIf(cable -> cable.client.over && cable.server.over);
    return cables;
  }

  /// One connection.
  final class Cable {
    final End client = new End(SimulatedLinks.this);
    final End server = new End(SimulatedLinks.this);

    /// Both ends notice, each in its time.
    void cut() {
      client.hearClosed();
      server.hearClosed();
    }

    boolean isWhole() {
      return !client.over && !server.over;
    }

    /// Nothing arrives any more, and neither side notices.
    void silence() {
      client.deaf = true;
      server.deaf = true;
    }

    /// The client's process has ended.
    void killClient() {
      client.over = true;
      client.deaf = true;
      server.hearClosed();
    }
  }

  /// One end of it.
  static final class End implements Link {
    private final SimulatedLinks net;
    private final FrameReader reader = new FrameReader();
    private Link.Events events;
    private End other;
    private long arrived;
    boolean over;
    boolean deaf;
    private boolean muffled;

    End(SimulatedLinks net) {
      this.net = net;
    }

    private void open(Link.Events hears, End to) {
      events = hears;
      other = to;
      hears.opened(this);
    }

    @Override
    public void send(Frame frame) {
      if (!over) {
        ByteBuffer bytes = FrameCodec.encode(frame);
        while (bytes.hasRemaining()) {
          int piece = 1 + net.random.nextInt(bytes.remaining());
          byte[] some = new byte[piece];
          bytes.get(some);
          other.later(() -> other.read(some));
        }
      }
    }

    /// As if the other end had sent them.
    void sendRawAs(byte[] bytes) {
      later(() -> read(bytes));
    }

    /// Drops everything that the other end sends.
    void neverHear() {
      muffled = true;
    }

    @Override
    public void sendLast(Frame frame) {
      send(frame);
      close();
    }

    @Override
    public void close() {
      if (!over) {
        over = true;
        later(this::tellClosed);
        other.hearClosed();
      }
    }

    /// In the order of sending.
    private void later(Runnable event) {
      arrived = Math.max(arrived + 1, net.clock.now(TimeUnit.NANOSECONDS) + net.delay());
      net.clock.schedule(event, arrived - net.clock.now(TimeUnit.NANOSECONDS), TimeUnit.NANOSECONDS);
    }

    private void read(byte[] bytes) {
      if (over || deaf) {
        return;
      }
      ByteBuffer in = ByteBuffer.wrap(bytes);
      try {
        while (in.hasRemaining()) {
          ByteBuffer room = reader.room();
          int some = Math.min(room.remaining(), in.remaining());
          room.put(in.slice(in.position(), some));
          in.position(in.position() + some);
          reader.read(events::received);
        }
      } catch (MalformedFrameException e) {
        deaf = true;
        events.malformed(e);
      }
    }

    private void hearClosed() {
      later(() -> {
        if (!over && !muffled) {
          over = true;
          tellClosed();
        }
      });
    }

    private void tellClosed() {
      events.closed(SideCarFailure.of(SideCarCode.DOWN, SideCarFailure.NO_REGION, "cut"));
    }
  }
}
