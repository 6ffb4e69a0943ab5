package io.penstock.node.serve;

import io.penstock.node.text.Reason;
import io.penstock.recording.Recorder;
import io.penstock.wire.transport.ConnectionGauges;
import io.penstock.wire.transport.ConnectionListener;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// Records when connections of a node came up and went down.
final class RecordedLinks implements ConnectionListener {
  private final ConnectionListener next;
  private final Recorder recorder;
  private final Map<ConnectionGauges, Long> links = new ConcurrentHashMap<>();

  RecordedLinks(ConnectionListener next, Recorder recorder) {
    this.next = next;
    this.recorder = recorder;
  }

  @Override
  public void opened(ConnectionGauges connection) {
    next.opened(connection);
    links.put(connection, recorder.linkUp(connection.peer()));
  }

  @Override
  public void closed(ConnectionGauges connection, @Nullable Throwable cause) {
    next.closed(connection, cause);
    Long link = links.remove(connection);
    if (link != null) {
      recorder.linkDown(link, cause == null ? "" : Reason.of(cause));
    }
  }
}
