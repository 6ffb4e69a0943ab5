package io.penstock.gateway.events;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZEvent;
import org.zeromq.ZMQ;

/// The sockets to one publisher: SUB for its messages, DEALER for replays, and a PAIR that reports connections.
///
/// - Threads: one.
final class PublisherSockets implements PublisherFeed.Replay {
  private static final int MESSAGES_AT_ONCE = 256;
  private static final int REPLAYED_AT_ONCE = 4096;
  private static final int RECONNECT_MILLIS = 100;
  private static final int RECONNECT_MAX_MILLIS = 2000;
  /// A connection whose greeting takes longer is made again. The library's own limit is 30 seconds.
  private static final int HANDSHAKE_MILLIS = 2000;
  private static final int FRAMES = 3;
  private static final byte[] EMPTY = {};

  private final ZMQ.Context context;
  private final ZMQ.Poller poller;
  private final EventSource source;
  private final EventOptions options;
  private final PublisherFeed feed;
  private final ZMQ.Socket events;
  private final ZMQ.Socket connections;
  private ZMQ.@Nullable Socket replay;
  private boolean isPolled;

  /// Makes the feed of these sockets.
  interface FeedFactory {
    PublisherFeed of(PublisherFeed.@Nullable Replay replay);
  }

  /// @param number of these sockets in `context`
  PublisherSockets(ZMQ.Context context, ZMQ.Poller poller, EventSource source, EventOptions options, long number,
      FeedFactory feeds) {
    this.context = context;
    this.poller = poller;
    this.source = source;
    this.options = options;
    this.feed = feeds.of(source.replay() == null ? null : this);
    String monitor = "inproc://connections-" + number;
    events = socket(SocketType.SUB);
    events.subscribe(source.topic().getBytes(StandardCharsets.UTF_8));
    events.monitor(monitor, ZMQ.EVENT_CONNECTED);
    connections = context.socket(SocketType.PAIR);
    connections.setLinger(0);
    connections.connect(monitor);
    poller.register(connections, ZMQ.Poller.POLLIN);
    events.connect(source.events());
    open();
    poll();
  }

  private ZMQ.Socket socket(SocketType type) {
    ZMQ.Socket socket = context.socket(type);
    socket.setLinger(0);
    socket.setRcvHWM(options.highWater());
    socket.setMaxMsgSize(options.messageBytes());
    socket.setReconnectIVL(RECONNECT_MILLIS);
    socket.setReconnectIVLMax(RECONNECT_MAX_MILLIS);
    socket.setHandshakeIvl(HANDSHAKE_MILLIS);
    socket.setIPv6(source.events().contains("["));
    return socket;
  }

  private void open() {
    if (source.replay() != null) {
      replay = socket(SocketType.DEALER);
      replay.connect(source.replay());
      poller.register(replay, ZMQ.Poller.POLLIN);
    }
  }

  /// Messages are taken from the socket only while the feed takes them; meanwhile they wait there.
  private void poll() {
    if (feed.takesLive() != isPolled) {
      isPolled = !isPolled;
      if (isPolled) {
        poller.register(events, ZMQ.Poller.POLLIN);
      } else {
        poller.unregister(events);
      }
    }
  }

  /// Reads what has come, a bounded number of messages.
  void read() {
    while (ZEvent.recv(connections, ZMQ.DONTWAIT) != null) {
      feed.connected();
    }
    readReplay();
    for (int i = 0; i < MESSAGES_AT_ONCE && feed.takesLive(); i++) {
      List<byte[]> message = message(events);
      if (message == null) {
        break;
      }
      if (isWhole(message, source.topic())) {
        feed.live(number(message), message.getLast());
      }
    }
    feed.tick();
    poll();
  }

  private void readReplay() {
    for (int i = 0; i < REPLAYED_AT_ONCE && replay != null; i++) {
      List<byte[]> message = message(replay);
      if (message == null) {
        return;
      }
      if (isWhole(message, "")) {
        if (number(message) == -1 && message.getLast().length == 0) {
          feed.replayEnded();
        } else {
          feed.replayed(number(message), message.getLast());
        }
      }
    }
  }

  private boolean isWhole(List<byte[]> message, String first) {
    if (message.size() != FRAMES || message.get(1).length != Long.BYTES) {
      feed.bad("message%s must have a topic, a number of 8 bytes and a batch (was of %s)".formatted(
          first.isEmpty() ? "" : " of topic " + first,
          message.stream().map(frame -> frame.length + " bytes").toList()));
      return false;
    }
    return true;
  }

  private static long number(List<byte[]> message) {
    return ByteBuffer.wrap(message.get(1)).getLong();
  }

  private static @Nullable List<byte[]> message(ZMQ.Socket socket) {
    byte[] frame = socket.recv(ZMQ.DONTWAIT);
    if (frame == null) {
      return null;
    }
    List<byte[]> frames = new ArrayList<>(FRAMES);
    frames.add(frame);
    while (socket.hasReceiveMore()) {
      byte[] next = socket.recv();
      if (frames.size() <= FRAMES) {
        frames.add(next);
      }
    }
    return frames;
  }

  @Override
  public void ask(long from) {
    if (replay != null && replay.send(EMPTY, ZMQ.SNDMORE | ZMQ.DONTWAIT)) {
      replay.send(ByteBuffer.allocate(Long.BYTES).putLong(from).array(), ZMQ.DONTWAIT);
    }
  }

  @Override
  public void reset() {
    if (replay != null) {
      poller.unregister(replay);
      replay.close();
      open();
    }
  }

  /// Closes the sockets and forgets the publisher's blocks.
  void close() {
    feed.close();
    if (isPolled) {
      poller.unregister(events);
    }
    poller.unregister(connections);
    events.close();
    connections.close();
    if (replay != null) {
      poller.unregister(replay);
      replay.close();
    }
  }
}
