package io.penstock.recording;

import static java.util.Objects.requireNonNull;

import io.penstock.recording.RecordedEvent.Kind;

/// Records what happens on one link: its messages in each direction, its named flows, and its end.
///
/// The two ends of a link number the messages of a direction alike, from 1, as long as each records all of them. So the
/// recordings of two nodes can be put together: a message was sent before it was received, see
/// [io.penstock.recording.check.LinkCheck].
///
/// Not safe for use by several threads at a time: a link has one event loop, which knows the order of its messages.
public final class RecordedLink {
  /// Second number of an event: it came up.
  public static final long UP = 0;
  /// Second number of an event: it went down.
  public static final long DOWN = 1;
  /// Second number of an event: a message was sent.
  public static final long SENT = 2;
  /// Second number of an event: a message was received.
  public static final long RECEIVED = 3;
  /// Stands between the address of the peer and the own one.
  public static final String FROM = " from ";

  private final Turns turns;
  private final long number;
  private long sent;
  private long received;

  RecordedLink(Turns turns, String peer, String local) {
    this.turns = turns;
    this.number = turns.newLink();
    add(RecordedEvent.of(Kind.LINK, 0).with(number, UP, 0).with(local.isEmpty() ? peer : peer + FROM + local));
  }

  /// A message was handed to the socket.
  ///
  /// @param stream that it belongs to; 0 for the link itself
  /// @param bytes of the message
  /// @param demand that it states; 0 for none
  /// @param what its type and route
  public void sent(int stream, long bytes, long demand, String what) {
    message(SENT, ++sent, stream, bytes, demand, what);
  }

  /// A message arrived; parameters as of [#sent].
  public void received(int stream, long bytes, long demand, String what) {
    message(RECEIVED, ++received, stream, bytes, demand, what);
  }

  private void message(long direction, long sequence, int stream, long bytes, long demand, String what) {
    add(RecordedEvent.of(Kind.LINK, 0).with(number, direction, sequence, stream, bytes, demand).with(what));
  }

  /// The link went down.
  ///
  /// @param why empty if one of the two sides closed it in order
  public void down(String why) {
    add(RecordedEvent.of(Kind.LINK, 0).with(number, DOWN, 0).with(why));
  }

  /// A stream of the link begins.
  ///
  /// @param name such as its route
  public Flow flow(String name) {
    return new Flow(requireNonNull(name, "name"));
  }

  private void add(RecordedEvent event) {
    turns.signal(event);
  }

  /// Records the signals of one direction of a stream.
  public final class Flow {
    private final long flow;

    Flow(String name) {
      this.flow = turns.newNamedFlow();
      add(RecordedEvent.of(Kind.FLOW, flow).with(number).with(name));
    }

    public void requested(long n) {
      add(RecordedEvent.of(Kind.FLOW_REQUEST, flow).with(n));
    }

    /// An element passed.
    ///
    /// @param bytes of its message
    public void passed(long bytes) {
      add(RecordedEvent.of(Kind.FLOW_NEXT, flow).with(ElementType.BYTES.ordinal(), bytes));
    }

    public void cancelled() {
      add(RecordedEvent.of(Kind.FLOW_CANCEL, flow));
    }

    public void completed() {
      add(RecordedEvent.of(Kind.FLOW_COMPLETE, flow));
    }

    public void failed(String error) {
      add(RecordedEvent.of(Kind.FLOW_ERROR, flow).with(error));
    }
  }
}
