package io.penstock.wire.report;

import io.netty.buffer.ByteBuf;
import io.penstock.recording.RecordedLink;
import io.penstock.wire.protocol.RequestMetadata;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.transport.ConnectionListener.FrameListener;
import io.rsocket.frame.FrameHeaderCodec;
import io.rsocket.frame.FrameType;
import io.rsocket.frame.RequestChannelFrameCodec;
import io.rsocket.frame.RequestFireAndForgetFrameCodec;
import io.rsocket.frame.RequestNFrameCodec;
import io.rsocket.frame.RequestResponseFrameCodec;
import io.rsocket.frame.RequestStreamFrameCodec;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Records the frames of one connection as messages of a link and as signals of named flows.
///
/// A stream is a flow named as its route, of what the answering side sends. A channel has a second one, named *route
/// (asked)*, of what the asking side sends behind its request. A flow ends where its reader's cancel passes: elements
/// that were on their way then are messages of the link alone.
///
/// Two loops may record at a time for a connection inside one process, one for each direction.
final class RecordedFrames implements FrameListener {
  /// Stands for routes that this side does not know: their text is the peer's.
  private static final String UNKNOWN = "unknown";
  /// Stands for the type of a frame that breaks RSocket's rules.
  private static final String UNREADABLE = "unreadable";
  /// Flag of a PAYLOAD frame that has an element.
  private static final int NEXT = 0x20;

  private final @Nullable FrameListener next;
  private final Map<Integer, Stream> streams = new HashMap<>();
  private @Nullable RecordedLink link;

  /// @param asks whether this side asked
  private record Stream(boolean asks, RecordedLink.Flow answers, RecordedLink.@Nullable Flow asked) {}

  RecordedFrames(@Nullable FrameListener next) {
    this.next = next;
  }

  synchronized void up(RecordedLink recorded) {
    link = recorded;
  }

  synchronized void down(String why) {
    RecordedLink to = link;
    if (to == null) {
      return;
    }
    streams.values().forEach(stream -> {
      stream.answers().failed("the link went down");
      if (stream.asked() != null) {
        stream.asked().failed("the link went down");
      }
    });
    streams.clear();
    link = null;
    to.down(why);
  }

  @Override
  public void sent(ByteBuf frame) {
    if (next != null) {
      next.sent(frame);
    }
    record(frame, true);
  }

  @Override
  public void received(ByteBuf frame) {
    if (next != null) {
      next.received(frame);
    }
    record(frame, false);
  }

  /// Reads a duplicate: a frame that ends too early leaves the place of its reader somewhere, and RSocket reads the
  /// frame itself afterwards.
  private synchronized void record(ByteBuf live, boolean sent) {
    RecordedLink to = link;
    if (to == null || live.readableBytes() < FrameHeaderCodec.size()) {
      return;
    }
    ByteBuf frame = live.duplicate();
    int bytes = frame.readableBytes();
    int stream = FrameHeaderCodec.streamId(frame);
    FrameType type;
    long demand;
    try {
      type = FrameHeaderCodec.nativeFrameType(frame);
      demand = demandOf(type, frame.duplicate());
    } catch (RuntimeException e) { // RSocket refuses it; it is a message all the same
      message(to, sent, stream, bytes, 0, UNREADABLE);
      return;
    }
    String route = routeOf(type, frame.duplicate());
    message(to, sent, stream, bytes, demand,
        type.name().toLowerCase(Locale.ROOT) + (route.isEmpty() ? "" : " " + route));
    if (stream != 0) {
      flow(to, type, frame, sent, stream, new Asked(route, demand));
    }
  }

  private static void message(RecordedLink to, boolean sent, int stream, int bytes, long demand, String what) {
    if (sent) {
      to.sent(stream, bytes, demand, what);
    } else {
      to.received(stream, bytes, demand, what);
    }
  }

  private record Asked(String route, long demand) {}

  private void flow(RecordedLink to, FrameType type, ByteBuf frame, boolean sent, int id, Asked asked) {
    switch (type) {
      case REQUEST_RESPONSE, REQUEST_STREAM, REQUEST_CHANNEL -> {
        RecordedLink.Flow answers = to.flow(asked.route());
        answers.requested(type == FrameType.REQUEST_RESPONSE ? 1 : asked.demand());
        boolean more = type == FrameType.REQUEST_CHANNEL && !FrameHeaderCodec.hasComplete(frame);
        streams.put(id, new Stream(sent, answers, more ? to.flow(asked.route() + " (asked)") : null));
      }
      case PAYLOAD, CANCEL, ERROR, REQUEST_N -> {
        Stream stream = streams.get(id);
        if (stream != null) {
          signal(id, stream, type, frame, sent == stream.asks(), asked.demand());
        }
      }
      default -> {
      }
    }
  }

  /// @param byAsking whether the side that asked sent it
  private void signal(int id, Stream stream, FrameType type, ByteBuf frame, boolean byAsking, long demand) {
    RecordedLink.Flow asked = stream.asked();
    switch (type) {
      case REQUEST_N -> {
        if (byAsking) {
          stream.answers().requested(demand);
        } else if (asked != null) {
          asked.requested(demand);
        }
      }
      case CANCEL -> {
        if (byAsking) {
          stream.answers().cancelled();
          streams.remove(id); // an asking side that leaves sends no more, either
          if (asked != null) {
            asked.failed("the asking side left");
          }
        } else if (asked != null) {
          asked.cancelled();
          streams.put(id, new Stream(stream.asks(), stream.answers(), null));
        }
      }
      case ERROR -> {
        stream.answers().failed(byAsking ? "the asking side failed" : "the answering side failed");
        if (asked != null) {
          asked.failed(byAsking ? "the asking side failed" : "the answering side failed");
        }
        streams.remove(id);
      }
      default -> payload(id, stream, frame, byAsking);
    }
  }

  private void payload(int id, Stream stream, ByteBuf frame, boolean byAsking) {
    RecordedLink.Flow flow = byAsking ? stream.asked() : stream.answers();
    if (flow == null) {
      return;
    }
    if ((FrameHeaderCodec.flags(frame) & NEXT) != 0 && !FrameHeaderCodec.hasFollows(frame)) {
      flow.passed(frame.readableBytes());
    }
    if (FrameHeaderCodec.hasComplete(frame)) {
      flow.completed();
      if (byAsking) {
        streams.put(id, new Stream(stream.asks(), stream.answers(), null));
      } else {
        if (stream.asked() != null) {
          stream.asked().cancelled(); // an answer that is complete needs no more
        }
        streams.remove(id);
      }
    }
  }

  private static long demandOf(FrameType type, ByteBuf frame) {
    return switch (type) {
      case REQUEST_N -> RequestNFrameCodec.requestN(frame);
      case REQUEST_STREAM -> RequestStreamFrameCodec.initialRequestN(frame);
      case REQUEST_CHANNEL -> RequestChannelFrameCodec.initialRequestN(frame);
      default -> 0;
    };
  }

  private static String routeOf(FrameType type, ByteBuf frame) {
    try {
      ByteBuf metadata = switch (type) {
        case REQUEST_RESPONSE -> RequestResponseFrameCodec.metadata(frame);
        case REQUEST_STREAM -> RequestStreamFrameCodec.metadata(frame);
        case REQUEST_CHANNEL -> RequestChannelFrameCodec.metadata(frame);
        case REQUEST_FNF -> RequestFireAndForgetFrameCodec.metadata(frame);
        default -> null;
      };
      if (metadata == null) {
        return type.isRequestType() ? UNKNOWN : "";
      }
      String route = RequestMetadata.read(metadata, "").route();
      return Routes.ALL.contains(route) ? route : UNKNOWN;
    } catch (RuntimeException e) { // as above
      return UNKNOWN;
    }
  }
}
