package io.penstock.resp;

import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.redis.RedisCodecException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Hands on what the decoder of requests refuses as a message, behind the requests before it, and in words for people
/// who do not read Java.
@Sharable
final class DecoderWords extends ChannelInboundHandlerAdapter {
  static final DecoderWords INSTANCE = new DecoderWords();

  /// Longest string of a request that the decoder takes.
  private static final String LONGEST = "536870912";
  private static final Pattern TOO_LONG = Pattern.compile("length: (\\d+) \\(expected: <= (\\d+)\\)");

  private static final String A_LINE = "a line";

  private DecoderWords() {}

  /// What cannot be read.
  ///
  /// @param why for the log
  /// @param isLine whether it is a line that is too long
  record Unreadable(String why, boolean isLine) {}

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable thrown) {
    if (thrown.getCause() instanceof RedisCodecException refused) {
      String why = words(refused);
      context.fireChannelRead(new Unreadable(why, why.startsWith(A_LINE)));
    } else {
      context.fireExceptionCaught(thrown);
    }
  }

  private static String words(RedisCodecException refused) {
    String message = String.valueOf(refused.getMessage());
    Matcher tooLong = TOO_LONG.matcher(message);
    return tooLong.matches()
        ? "%s must have at most %s bytes (was %s)"
            .formatted(tooLong.group(2).equals(LONGEST) ? "a value" : A_LINE, tooLong.group(2), tooLong.group(1))
        : "a request must be in the form of Redis (was " + message + ")";
  }
}
