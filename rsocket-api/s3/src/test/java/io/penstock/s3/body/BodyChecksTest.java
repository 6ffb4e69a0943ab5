package io.penstock.s3.body;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.penstock.s3.reply.S3Code;
import io.penstock.s3.reply.S3Exception;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class BodyChecksTest {
  private static final byte[] DIGITS = "123456789".getBytes(StandardCharsets.US_ASCII);

  @Test
  void crc64_isThatOfTheCatalogue_howeverTheBytesCome() {
    Crc64Nvme crc = new Crc64Nvme();
    crc.update(DIGITS, 0, DIGITS.length);
    assertThat(crc.getValue()).isEqualTo(0xAE8B14860A799888L);
    byte[] bytes = new byte[1000];
    new Random(1).nextBytes(bytes);
    Crc64Nvme one = new Crc64Nvme();
    for (byte each : bytes) {
      one.update(each);
    }
    Crc64Nvme two = new Crc64Nvme();
    two.update(ByteBuffer.wrap(bytes, 0, 13));
    two.update(ByteBuffer.allocateDirect(987).put(bytes, 13, 987).flip());
    assertThat(two.getValue()).isEqualTo(one.getValue());
    two.reset();
    assertThat(two.getValue()).isEqualTo(new Crc64Nvme().getValue());
  }

  @ParameterizedTest
  @CsvSource({"x-amz-checksum-crc32, y/Q5Jg==", "x-amz-checksum-crc32c, 4waSgw==",
    "x-amz-checksum-crc64nvme, rosUhgp5mIg=",
    "x-amz-checksum-sha1, 98O8HYCOBHMq32eZZczDTKeuNEE=",
    "x-amz-checksum-sha256, FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=", "Content-MD5, JfnnlDI7RTiF9RgfG2JNCw=="})
  void aChecksum_isCompared(String header, String value) {
    BodyChecks right = new BodyChecks(new DefaultHttpHeaders().set(header, value));
    right.update(ByteBuffer.wrap(DIGITS));
    right.verify(Map.of());
    BodyChecks wrong = new BodyChecks(new DefaultHttpHeaders().set(header, value));
    wrong.update(ByteBuffer.wrap(DIGITS, 1, 8));
    requireRefused(() -> wrong.verify(Map.of()), S3Code.BAD_DIGEST);
    requireRefused(() -> new BodyChecks(new DefaultHttpHeaders().set(header, "eA==")), S3Code.INVALID_DIGEST);
    requireRefused(() -> new BodyChecks(new DefaultHttpHeaders().set(header, "*")), S3Code.INVALID_DIGEST);
  }

  private static void requireRefused(Runnable step, S3Code code) {
    assertThatThrownBy(step::run).isInstanceOfSatisfying(S3Exception.class,
        refused -> assertThat(refused.code()).as(refused.getMessage()).isEqualTo(code));
  }

  @Test
  void anUnknownChecksum_isRefused_ratherThanBelieved() {
    requireRefused(() -> new BodyChecks(new DefaultHttpHeaders().set("x-amz-checksum-xxhash3", "eA==")),
        S3Code.INVALID_REQUEST);
    requireRefused(() -> new BodyChecks(new DefaultHttpHeaders().set("x-amz-trailer", "x-amz-meta-a")),
        S3Code.INVALID_REQUEST);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"g\r\n", "5;chunk-signature=00\r\nhello\r\n0\r\n\r\n", "5\r\nhelloo\r\n", "6\r\nhello!\r\n0\r\n\r\n",
        "4\r\nhell\r\n0\r\n\r\n", "5\r\nhello\r\n", "5\r\nhello\r\n0\r\n\r\nmore", "5\r\nhello\r\n0\r\nx:y\r\n\r\n",
        "-5\r\n", "ffffffffffffffff\r\n", ""})
  void chunksOfAnotherForm_areRefused(String text) {
    for (int pieces : new int[] {1, 3, 1000}) {
      ChunkedBody decoder = new ChunkedBody(5, null, false);
      assertThatThrownBy(() -> drain(decoder, text, pieces)).as("%s", text).isInstanceOf(S3Exception.class);
    }
  }

  private static void drain(ChunkedBody decoder, String text, int pieces) {
    ByteBuf all = Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
    while (all.isReadable()) {
      ByteBuf piece = all.readSlice(Math.min(pieces, all.readableBytes()));
      for (ByteBuf slice = decoder.next(piece); slice != null; slice = decoder.next(piece)) {
        slice.release();
      }
    }
    decoder.end();
  }

  @Test
  void aLineWithoutEnd_isRefused() {
    assertThatThrownBy(() -> drain(new ChunkedBody(5, null, false), "0".repeat(2000), 100))
        .isInstanceOf(S3Exception.class);
    assertThatThrownBy(() -> drain(new ChunkedBody(0, null, true), "0\r\n" + "a:b".repeat(2000), 100))
        .isInstanceOf(S3Exception.class);
  }
}
