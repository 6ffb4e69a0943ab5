package io.penstock.s3.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.s3.reply.S3Exception;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class RequestPartsTest {
  private static final List<String> DOMAINS = List.of("localhost", "s3.local");

  @ParameterizedTest
  @CsvSource(delimiter = '|',
      value = {"/b/k|h:1|b|k", "/b|h|b|''", "/b/|h|b|''", "/|h|''|''", "/k|b.localhost:9000|b|k",
        "/a/k|b.S3.Local|b|a/k", "/b/k|localhost:9000|b|k", "/b//k|h|b|/k", "http://h/b/k|h|b|k",
        "/b/%2e%2e/k|h|b|../k"})
  void buckets_areInThePathOrTheHost(String uri, String host, String bucket, String key) {
    Target target = Target.parse(uri, host, DOMAINS);
    assertThat(target.bucket()).isEqualTo(bucket);
    assertThat(target.key()).isEqualTo(key);
  }

  @ParameterizedTest
  @ValueSource(strings = {"*", "b/k", "/b/%", "/b/%4", "/b/%zz", "/%20/k", "/..//k"})
  void aTargetOfAnotherForm_isRefused(String uri) {
    assertThatThrownBy(() -> Target.parse(uri, "h", DOMAINS)).isInstanceOf(S3Exception.class);
  }

  @ParameterizedTest
  @CsvSource({"bytes=0-0, 0, 1", "bytes=0-, 0, 100", "bytes=99-, 99, 1", "bytes=-1, 99, 1", "bytes=-1000, 0, 100",
    "bytes=5-1000, 5, 95"})
  void aRange_isCutAtTheEnd(String header, long offset, long bytes) {
    assertThat(ByteRange.of(header, 100)).contains(new ByteRange(offset, bytes));
  }

  @Test
  void aRangeOfAnotherForm_isNone_andOneOutsideIsRefused() {
    for (String header : new String[] {"bytes=", "bytes=-", "bytes=2-1", "lines=1-2", "bytes=0-1,3-4", "bytes=x-"}) {
      assertThat(ByteRange.of(header, 100)).as(header).isEqualTo(Optional.empty());
    }
    for (String header : new String[] {"bytes=100-", "bytes=100-200", "bytes=-0"}) {
      assertThatThrownBy(() -> ByteRange.of(header, 100)).as(header).isInstanceOf(S3Exception.class);
    }
  }

  @Test
  void keys_areTheirOwnNames_andComeBack() {
    Random random = new Random(5);
    for (int i = 0; i < 1000; i++) {
      byte[] key = new byte[1 + random.nextInt(20)];
      random.nextBytes(key);
      assertThat(KeyBytes.key(KeyBytes.name(key))).isEqualTo(key);
    }
    byte[] text = "\uFDD0\u00FF".getBytes(StandardCharsets.UTF_8);
    assertThat(KeyBytes.key(KeyBytes.name(text))).isEqualTo(text);
    assertThat(KeyBytes.name(text)).isNotEqualTo(KeyBytes.name(new byte[] {(byte) 0xFF}));
  }
}
