package io.penstock.resp;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.redis.ArrayHeaderRedisMessage;
import io.netty.handler.codec.redis.BulkStringHeaderRedisMessage;
import io.netty.handler.codec.redis.BulkStringRedisContent;
import io.netty.handler.codec.redis.ErrorRedisMessage;
import io.netty.handler.codec.redis.FullBulkStringRedisMessage;
import io.netty.handler.codec.redis.InlineCommandRedisMessage;
import io.netty.handler.codec.redis.IntegerRedisMessage;
import io.netty.handler.codec.redis.LastBulkStringRedisContent;
import io.netty.handler.codec.redis.SimpleStringRedisMessage;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import io.penstock.node.door.DoorUses.Kind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/// One connection: it answers one request after the other, in their order. While a reply is not there, a value waits
/// for room, or the client does not take its replies, nothing more is read than what had come. On the event loop of its
/// channel.
final class RespConnection extends ChannelDuplexHandler implements ValueReads.Reader {
  private static final int MOST_ARGUMENTS = 64 << 10;
  private static final int MOST_ARGUMENT_BYTES = 1 << 20;
  private static final int MOST_UNKNOWN_BYTES = 16 << 10;
  private static final int FIRST_BYTES = 4 << 10;
  private static final String NO_LENGTH = "invalid bulk length";
  private static final byte[] NOTHING = new byte[0];

  private final RespHouse house;
  private final boolean isPlain;
  private final Deque<Object> inbox = new ArrayDeque<>();
  private final Runnable answered = this::answered;
  private final Runnable turn = this::turn;
  private @Nullable Session session;
  private @Nullable SharedLoop loop;
  /// Number of this connection in its loop.
  private int number;
  private List<byte[]> args = new ArrayList<>();
  private int left;
  private long argumentBytes;
  private byte @Nullable [] argument;
  /// A request that is an array has come.
  private boolean hasArrays;
  private int argumentLength;
  private int filled;
  private @Nullable IncomingSet set;
  /// The last piece of a value has come, and some of it may wait.
  private boolean hasLast;
  /// A request that has come whole has no reply yet.
  private boolean isRunning;
  private boolean isPumping;
  /// The bytes of a value wait until those of others were read.
  private boolean awaitsTurn;
  /// Much of a value was copied, which a read could have brought to where it lies.
  private boolean hasCopied;
  /// The loop hands on what it has read from the socket.
  private boolean isReading;
  /// The client sends no more.
  private boolean hasEnded;
  private @Nullable Future<?> untaken;
  private @Nullable Future<?> silence;
  private boolean isOver;

  /// @param isPlain whether the bytes of the socket are those of the client
  RespConnection(RespHouse house, boolean isPlain) {
    this.house = house;
    this.isPlain = isPlain;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    session = new Session(house, context);
    SharedLoop shared = house.shared(context.channel().eventLoop());
    loop = shared;
    number = shared.connect();
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    house.disconnected();
  }

  private Session session() {
    return requireNonNull(session, "session");
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    isReading = true;
    if (isOver) {
      ReferenceCountUtil.release(message);
    } else {
      hasArrays = hasArrays || message instanceof ArrayHeaderRedisMessage;
      inbox.add(message instanceof InlineCommandRedisMessage line ? new Line(bytes(line)) : message);
      pump();
    }
  }

  /// A line of a person.
  private record Line(byte[] bytes) {}

  /// The bytes of `line` as they came: before the first array, [LineEnds] made a character of each.
  private byte[] bytes(InlineCommandRedisMessage line) {
    return line.content().getBytes(hasArrays ? StandardCharsets.UTF_8 : StandardCharsets.ISO_8859_1);
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    isReading = false;
    if (!isOver) {
      reply();
      IncomingSet coming = isRunning ? null : set;
      requireNonNull(loop, "loop").heard(number, coming != null && coming.isNearItsEnd());
      if (coming != null) {
        awaitClient(coming);
        awaitTurn(coming);
      }
    }
  }

  /// Sends replies, with those to others if more of what clients have sent is about to be handled.
  private void reply() {
    if (hasEnded) { // the connection may end next
      session().replies().flush();
    } else {
      session().replies().flushSoon();
    }
  }

  private void awaitTurn(IncomingSet coming) {
    if (!awaitsTurn && coming.hasMoreToCome() && requireNonNull(loop, "loop").awaits(turn)) {
      awaitsTurn = true;
      readsIfIdle();
    }
  }

  private void turn() {
    awaitsTurn = false;
    if (!isOver) {
      readsIfIdle();
    }
  }

  /// Reads go on, unless what has come has to be handled first, or others have their turn.
  private void readsIfIdle() {
    session().channel().config().setAutoRead(!awaitsTurn && !isBusy());
  }

  /// Handles what has come, as far as it can be answered now.
  private void pump() {
    if (isPumping || isOver) {
      return;
    }
    isPumping = true;
    try {
      boolean goesOn = true;
      while (goesOn && !isOver && !isRunning) {
        goesOn = next();
      }
    } catch (BadRequestException e) {
      bad(e);
    } finally {
      isPumping = false;
    }
    if (!isOver) {
      readsIfIdle();
      if (!isRunning && !session().channel().isWritable()) {
        watch();
      }
    }
  }

  /// Ends the connection of a client that sends nothing of a value. The tier, and a client that has replies to take,
  /// may take their time. One look at a time, whichever value comes then: most values come within it.
  private void awaitClient(IncomingSet coming) {
    long most = house.limits().stallNanos();
    long rest = coming.awaitsClient() ? most - coming.silentNanos() : most;
    if (silence != null) {
      return;
    } else if (rest <= 0) {
      session().end("the client sent no byte of a value for too long");
      return;
    }
    silence = session().channel().eventLoop().schedule(() -> {
      silence = null;
      IncomingSet now = set;
      if (!isOver && now != null && !isRunning) {
        awaitClient(now);
      }
    }, rest, TimeUnit.NANOSECONDS);
  }

  /// Ends the connection of a client that takes no reply.
  private void watch() {
    if (untaken == null) {
      Channel channel = session().channel();
      long before = channel.bytesBeforeWritable();
      untaken = channel.eventLoop().schedule(() -> {
        untaken = null;
        if (isOver || channel.isWritable()) {
          return;
        } else if (channel.bytesBeforeWritable() == before) {
          bad("the client took no byte of its replies for too long");
        } else {
          watch();
        }
      }, house.limits().stallNanos(), TimeUnit.NANOSECONDS);
    }
  }

  /// Handles the rest of a piece of a value, or the next message.
  ///
  /// @return false if there is none, or it must wait
  private boolean next() {
    IncomingSet coming = set;
    if (coming != null && !coming.takePiece()) {
      return false;
    }
    if (hasLast) {
      hasLast = false;
      added(NOTHING);
      return true;
    }
    if (!session().channel().isWritable()) {
      session().replies().flush();
    }
    Object message = isBusy() ? null : inbox.poll();
    if (message == null) {
      return false;
    }
    handle(message);
    return true;
  }

  private boolean isBusy() {
    IncomingSet coming = set;
    return isRunning || !session().channel().isWritable() || (coming != null && coming.waits());
  }

  private void resume() {
    pump();
    if (!isOver && inbox.isEmpty()) {
      if (isReading) {
        reply();
      } else { // it was waited for
        session().replies().flush();
      }
    }
    IncomingSet coming = isOver || isRunning ? null : set;
    if (coming != null) { // its first bytes may have come with the request before, and no others may come
      awaitClient(coming);
      awaitTurn(coming);
    }
  }

  private void handle(Object message) {
    switch (message) {
      case ArrayHeaderRedisMessage array -> begin(array.length());
      case FullBulkStringRedisMessage whole -> {
        boolean isNull = whole.isNull();
        ByteBuf content = whole.content();
        if (isNull) {
          throw new BadRequestException("a request must have no null", NO_LENGTH);
        }
        beginArgument(content.readableBytes());
        content(content, true);
      }
      case BulkStringHeaderRedisMessage header -> beginArgument(header.bulkStringLength());
      case LastBulkStringRedisContent last -> content(last.content(), true);
      case BulkStringRedisContent piece -> content(piece.content(), false);
      case Line line -> line(line.bytes());
      case DecoderWords.Unreadable broken -> throw new BadRequestException(broken.why(),
          left > 0 ? NO_LENGTH : broken.isLine() ? "too big inline request" : "invalid multibulk length");
      case IntegerRedisMessage number -> throw noString(':', number);
      case SimpleStringRedisMessage simple -> throw noString('+', simple);
      case ErrorRedisMessage error -> throw noString('-', error);
      default -> throw new IllegalStateException("a message must be of the protocol (was " + message + ")");
    }
  }

  /// Where a string of a request must come.
  private BadRequestException noString(char type, Object message) {
    ReferenceCountUtil.release(message);
    return new BadRequestException("a request must be an array of strings",
        left > 0 ? "expected '$', got '" + type + "'" : null);
  }

  private void begin(long length) {
    if (left > 0 || length > MOST_ARGUMENTS) {
      throw new BadRequestException("a request must be an array of at most " + MOST_ARGUMENTS + " strings",
          left > 0 ? "expected '$', got '*'" : "invalid multibulk length");
    }
    if (length > 0 && house.takesNoMore()) {
      session().closeBehindReplies();
      over();
    } else if (length > 0) {
      left = (int) length;
      args = new ArrayList<>(Math.min(left, 16));
      argumentBytes = 0;
      house.begin();
    }
  }

  private void beginArgument(int length) {
    if (left == 0) {
      throw new BadRequestException("a string must be part of a request", null);
    }
    int before = args.size();
    if ((before == 2 || before == 3) && ValueCommands.place(args.getFirst(), before + left) == before) {
      if (length > house.limits().mostValue()) {
        throw new BadRequestException("a value must have at most " + house.limits().mostValue() + " bytes (was "
            + length + ")", NO_LENGTH);
      }
      if (!ValueCommands.isPlainSet(args.getFirst(), before + left)) {
        session().parses(); // a client that reads replies by their width sends no options
      }
      IncomingSet coming = new IncomingSet(session(), args.get(1), length, this::resume);
      set = coming;
      coming.begin();
      return;
    }
    argumentBytes += length;
    int most = session().isKnown() ? MOST_ARGUMENT_BYTES : MOST_UNKNOWN_BYTES;
    if (argumentBytes > most) {
      throw new BadRequestException("arguments must have at most " + most + " bytes together",
          session().isKnown() ? NO_LENGTH : "unauthenticated bulk length");
    }
    argument = length == 0 ? NOTHING : new byte[Math.min(length, FIRST_BYTES)];
    argumentLength = length;
    filled = 0;
  }

  /// Takes over a piece of a string.
  private void content(ByteBuf piece, boolean isLast) {
    byte[] into = argument;
    IncomingSet coming = set;
    if (into != null) {
      int bytes = piece.readableBytes();
      if (bytes > into.length - filled) { // memory follows what has come
        into = Arrays.copyOf(into, Math.min(argumentLength, Math.max(2 * into.length, filled + bytes)));
        argument = into;
      }
      piece.readBytes(into, filled, bytes);
      filled += bytes;
      piece.release();
      if (isLast) {
        argument = null;
        added(into);
      }
    } else if (coming != null) {
      hasLast = isLast;
      long before = coming.copied();
      coming.piece(piece);
      hasCopied |= isPlain && coming.copied() - before > ValueReads.MOST_COPIED;
    } else {
      piece.release();
      throw new BadRequestException("a string must have a length", null);
    }
  }

  private void added(byte[] one) {
    args.add(one);
    if (--left == 0) {
      List<byte[]> whole = args;
      args = List.of();
      run(whole);
    }
  }

  private void run(List<byte[]> whole) {
    isRunning = true;
    house.asked();
    IncomingSet coming = set;
    if (coming != null) {
      coming.finish(whole, answered);
    } else {
      requireNonNull(loop, "loop").asked();
      Commands.run(session(), whole, answered);
    }
  }

  private void answered() {
    if (isRunning) {
      isRunning = false;
      set = null;
      house.end();
      resume();
    }
  }

  /// A line comes next as the array that it stands for.
  private void line(byte[] text) {
    if (left > 0) {
      throw new BadRequestException("a request must end before a line",
          "expected '$', got '" + (text.length == 0 ? ' ' : (char) (text[0] & 0xFF)) + "'");
    }
    List<byte[]> words = InlineWords.of(text);
    if (words == null) {
      throw new BadRequestException("a line must close its quotes", "unbalanced quotes in request");
    } else if (words.isEmpty()) {
      return;
    }
    String first = SetOptions.word(words.getFirst());
    if (first.equals("POST") || first.equals("HOST:")) { // a web page would go on with requests
      throw new BadRequestException("a line must be a request of Redis (was one of HTTP)", null);
    }
    session().parses(); // people write lines
    for (byte[] word : words.reversed()) {
      inbox.addFirst(new FullBulkStringRedisMessage(Unpooled.wrappedBuffer(word)));
    }
    inbox.addFirst(new ArrayHeaderRedisMessage(words.size()));
  }

  @Override
  public ValueReads.@Nullable Room room() {
    IncomingSet coming = coming();
    return coming == null ? null : coming.room();
  }

  @Override
  public boolean hasRoom() {
    IncomingSet coming = coming();
    return coming != null && coming.hasRoom();
  }

  @Override
  public boolean hasCopied() {
    boolean copied = hasCopied;
    hasCopied = false;
    return copied;
  }

  @Override
  public void came(int bytes) {
    if (bytes < 0) {
      hasEnded = true;
    } else if (loop != null) {
      loop.came(bytes);
    }
  }

  @Override
  public boolean isShared() {
    return loop != null && loop.isShared();
  }

  /// The value whose bytes alone come next; null for none.
  private @Nullable IncomingSet coming() {
    return isPlain && !isOver && !isRunning && inbox.isEmpty() ? set : null;
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    if (!isOver) {
      session().writable();
      if (!isRunning && session().channel().isWritable()) {
        resume();
      }
    }
  }

  /// What was answered goes out first.
  @Override
  public void close(ChannelHandlerContext context, ChannelPromise closed) {
    if (!isOver) {
      session().replies().flushDue();
    }
    var _ = context.close(closed);
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    over();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable thrown) {
    if (thrown instanceof IOException) { // the peer is gone
      over();
      session().close();
    } else if (thrown.getCause() instanceof SSLException) { // its message has what the client sent, maybe a password
      bad("a client must speak TLS here");
    } else {
      bad(String.valueOf(thrown.getMessage()));
    }
  }

  /// Ends a connection whose requests cannot be read. Its client hears why as far as it reads errors, which it does
  /// where what is broken is no request of one that reads replies by their width.
  private void bad(BadRequestException thrown) {
    if (args.isEmpty() || !Commands.isNative(args.getFirst(), args.size() + left)) {
      session().parses();
    }
    if (thrown.reply != null && session().isParsing()) {
      session().replies().error("ERR Protocol error: " + thrown.reply);
    }
    if (!isOver) {
      session().use().count(Kind.REFUSAL);
      session().endBehindReplies(String.valueOf(thrown.getMessage()));
      over();
    }
  }

  /// Ends a connection.
  private void bad(String why) {
    if (!isOver) {
      session().use().count(Kind.REFUSAL);
      session().end(why);
      over();
    }
  }

  private void over() {
    if (isOver) {
      return;
    }
    isOver = true;
    Future<?> watch = untaken;
    if (watch != null) {
      watch.cancel(false);
    }
    Future<?> look = silence;
    if (look != null) {
      look.cancel(false);
    }
    IncomingSet coming = set;
    if (coming != null) {
      coming.abort();
    }
    session().over();
    if (isRunning || left > 0) {
      isRunning = false;
      left = 0;
      house.end();
    }
    for (Object message = inbox.poll(); message != null; message = inbox.poll()) {
      ReferenceCountUtil.release(message);
    }
  }

  private static final class BadRequestException extends RuntimeException {
    private final @Nullable String reply;

    /// @param reply what Redis says; null for nothing
    BadRequestException(String message, @Nullable String reply) {
      super(message, null, false, false);
      this.reply = reply;
    }
  }
}
