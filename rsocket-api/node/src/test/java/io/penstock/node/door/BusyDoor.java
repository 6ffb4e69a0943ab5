package io.penstock.node.door;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/// A door at which some clients never stop to send, and one asks. A client whose bytes the door reads sends more at
/// once, within the turn, so a turn ends for no lack of them. What the one who asks waits for is told in bytes of the
/// others: no clock says it, and no other work of the machine changes it.
public final class BusyDoor implements DrivenDoor.Traffic, AutoCloseable {
  /// Of one client in one turn: more is as much as without end.
  private static final int ENDLESS = 32 << 20;
  /// After them, a reply that does not end as it must is another one.
  private static final int MOST_TURNS = 10_000;

  private final DrivenDoor door;
  private final Map<Integer, Sender> senders = new HashMap<>();
  private final SocketChannel asker;
  private final int asking;
  private long read;
  private long turnBegan;
  private long asked = -1;
  private long answered;
  private long mostInTurn;

  /// A client that sends one request again and again, and takes its replies.
  private static final class Sender {
    private final SocketChannel socket;
    private final ByteBuffer request;
    private final ByteBuffer replies = ByteBuffer.allocateDirect(64 << 10);
    private long inTurn;

    Sender(SocketChannel socket, byte[] request) {
      this.socket = socket;
      this.request = ByteBuffer.allocateDirect(request.length).put(request).flip();
    }

    void send() throws IOException {
      while (socket.write(request) > 0) {
        if (!request.hasRemaining()) {
          request.rewind();
        }
      }
    }

    void take() throws IOException {
      while (socket.read(replies.clear()) > 0) {
        // goes on
      }
    }
  }

  /// @param open opens the door
  public BusyDoor(Function<DrivenDoor.Traffic, DrivenDoor> open) throws IOException {
    door = open.apply(this);
    asker = connect();
    asking = port(asker);
  }

  private SocketChannel connect() throws IOException {
    SocketChannel socket = SocketChannel.open(new InetSocketAddress("127.0.0.1", door.port()));
    socket.configureBlocking(false);
    return socket;
  }

  private static int port(SocketChannel socket) throws IOException {
    return ((InetSocketAddress) socket.getLocalAddress()).getPort();
  }

  /// From now on one more client sends `request` again and again.
  public void add(byte[] request) throws IOException {
    SocketChannel socket = connect();
    senders.put(port(socket), new Sender(socket, request));
  }

  /// A turn of the door; each client has sent what the system takes.
  public void turn() throws IOException {
    turnBegan = read;
    for (Sender each : senders.values()) {
      each.inTurn = 0;
      each.send();
    }
    door.turn();
    for (Sender each : senders.values()) {
      mostInTurn = Math.max(mostInTurn, each.inTurn);
      each.take();
    }
  }

  /// Bytes of the other clients that the door reads from the begin of the turn in which it reads `request`, until the
  /// system has the reply. Returns when the client has it.
  ///
  /// @param end last bytes of the reply, which are no others of it
  public long ask(byte[] request, byte[] end) throws IOException {
    asked = -1;
    ByteBuffer out = ByteBuffer.wrap(request);
    ByteBuffer in = ByteBuffer.allocate(64 << 10);
    ByteArrayOutputStream came = new ByteArrayOutputStream();
    int left = MOST_TURNS;
    do {
      if (Thread.interrupted() || (came.size() > 0 && left-- == 0)) {
        throw new IOException("a reply must end as it is asked for (was " + came.size() + " bytes)");
      }
      asker.write(out);
      turn();
      for (int bytes = asker.read(in); bytes != 0; bytes = asker.read(in.clear())) {
        if (bytes < 0) {
          throw new EOFException("the door ended the connection");
        }
        came.write(in.array(), 0, bytes);
      }
    } while (!endsWith(came, end));
    return answered - asked;
  }

  /// Most bytes that the door has read of one client that sends in one turn.
  public long mostInTurn() {
    return mostInTurn;
  }

  private static boolean endsWith(ByteArrayOutputStream all, byte[] end) {
    return all.size() >= end.length
        && Arrays.equals(all.toByteArray(), all.size() - end.length, all.size(), end, 0, end.length);
  }

  @Override
  public void read(int port, int bytes) {
    Sender sender = senders.get(port);
    if (sender != null) {
      read += bytes;
      sender.inTurn += bytes;
      if (sender.inTurn < ENDLESS) {
        try {
          sender.send();
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    } else if (port == asking && asked < 0) {
      asked = turnBegan;
    }
  }

  @Override
  public void sent(int port) {
    if (port == asking) {
      answered = read;
    }
  }

  @Override
  public void close() throws IOException {
    for (Sender each : senders.values()) {
      each.socket.close();
    }
    asker.close();
    door.close();
  }
}
