package io.penstock.wire.report;

import static java.util.Objects.requireNonNull;

import io.penstock.recording.Recorder;
import io.penstock.wire.transport.ConnectionGauges;
import io.penstock.wire.transport.ConnectionListener;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// Records the connections of a client or a node: when they come up and go down, each message in the order in which it
/// travels, and the streams as named flows. Credentials and bytes of blocks are not recorded.
///
/// What travels through shared memory is not a message; its announcements are.
public final class RecordedConnections implements ConnectionListener {
  private final ConnectionListener next;
  private final Recorder recorder;
  private final Map<ConnectionGauges, RecordedFrames> open = new ConcurrentHashMap<>();

  /// @param next receives everything, too
  public RecordedConnections(ConnectionListener next, Recorder recorder) {
    this.next = requireNonNull(next, "next");
    this.recorder = requireNonNull(recorder, "recorder");
  }

  /// @param recorder null to record nothing
  /// @return `next` itself if nothing is recorded
  public static ConnectionListener of(ConnectionListener next, @Nullable Recorder recorder) {
    return recorder == null ? next : new RecordedConnections(next, recorder);
  }

  @Override
  public FrameListener frames(ConnectionGauges connection) {
    RecordedFrames frames = new RecordedFrames(next.frames(connection));
    open.put(connection, frames);
    return frames;
  }

  @Override
  public void opened(ConnectionGauges connection) {
    next.opened(connection);
    RecordedFrames frames = open.get(connection);
    if (frames != null) {
      frames.up(recorder.link(connection.peer(), connection.local()));
    }
  }

  @Override
  public void closed(ConnectionGauges connection, @Nullable Throwable cause) {
    next.closed(connection, cause);
    RecordedFrames frames = open.remove(connection);
    if (frames != null) {
      frames.down(cause == null ? "" : cause.getClass().getSimpleName() + ": " + cause.getMessage());
    }
  }
}
