package io.penstock.s3.sign;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.penstock.s3.TestNode;
import io.penstock.s3.body.BodyChecks;
import io.penstock.s3.body.ChunkedBody;
import io.penstock.s3.reply.S3Code;
import io.penstock.s3.reply.S3Exception;
import io.penstock.s3.request.Target;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The examples of Amazon's text "Authenticating Requests (AWS Signature Version 4)".
final class AwsVectorsTest {
  private static final Instant THEN = Instant.parse("2013-05-24T00:00:00Z");
  private static final String EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  private static final String HOST = "examplebucket.s3.amazonaws.com";
  private static final AccessKeys KEYS =
      AccessKeys.parse(List.of(TestNode.KEY + " " + TestNode.SECRET + " user"), "keys");

  private final Gate gate = new Gate(() -> KEYS, () -> THEN);

  private static HttpHeaders headers(String host, String hash, String names, String signature, String... more) {
    HttpHeaders headers = new DefaultHttpHeaders().set("Host", host).set("x-amz-content-sha256", hash)
        .set("x-amz-date", "20130524T000000Z").set("Authorization", "AWS4-HMAC-SHA256 Credential=" + TestNode.KEY
            + "/20130524/us-east-1/s3/aws4_request,SignedHeaders=" + names + ",Signature=" + signature);
    for (int i = 0; i < more.length; i += 2) {
      headers.set(more[i], more[i + 1]);
    }
    return headers;
  }

  private static Target target(String uri) {
    return Target.parse(uri, HOST, List.of("s3.amazonaws.com"));
  }

  private Gate.Entry enter(HttpMethod method, String uri, HttpHeaders headers) {
    return gate.enter(method, headers, target(uri));
  }

  private void requireRefused(HttpMethod method, String uri, HttpHeaders headers, S3Code code) {
    assertThatThrownBy(() -> enter(method, uri, headers)).isInstanceOfSatisfying(S3Exception.class,
        refused -> assertThat(refused.code()).as(refused.getMessage()).isEqualTo(code));
  }

  @Test
  void aGet_isLetIn_andNotIfItChanges() {
    HttpHeaders headers = headers(HOST, EMPTY, "host;range;x-amz-content-sha256;x-amz-date",
        "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41", "Range", "bytes=0-9");
    assertThat(enter(HttpMethod.GET, "/test.txt", headers).user()).isEqualTo("user");
    requireRefused(HttpMethod.HEAD, "/test.txt", headers, S3Code.SIGNATURE_DOES_NOT_MATCH);
    requireRefused(HttpMethod.GET, "/test.txt?x", headers, S3Code.SIGNATURE_DOES_NOT_MATCH);
    requireRefused(HttpMethod.GET, "/Test.txt", headers, S3Code.SIGNATURE_DOES_NOT_MATCH);
    requireRefused(HttpMethod.GET, "/test.txt", headers.copy().set("Range", "bytes=0-8"),
        S3Code.SIGNATURE_DOES_NOT_MATCH);
    requireRefused(HttpMethod.GET, "/test.txt", headers.copy().set("x-amz-meta-a", "b"), S3Code.ACCESS_DENIED);
    requireRefused(HttpMethod.GET, "/test.txt", headers.copy().remove("Authorization"), S3Code.ACCESS_DENIED);
    requireRefused(HttpMethod.GET, "/test.txt", headers.copy().set("Authorization", "Basic YTpi"),
        S3Code.AUTHORIZATION_HEADER_MALFORMED);
    requireRefused(HttpMethod.GET, "/test.txt", headers.copy().set("x-amz-date", "20130525T000000Z"),
        S3Code.AUTHORIZATION_HEADER_MALFORMED);
  }

  @ParameterizedTest
  @ValueSource(longs = {-901, 901, -86_400})
  void aSkewedClock_isRefused(long seconds) {
    HttpHeaders headers = headers(HOST, EMPTY, "host;range;x-amz-content-sha256;x-amz-date",
        "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41", "Range", "bytes=0-9");
    Gate late = new Gate(() -> KEYS, () -> THEN.plusSeconds(seconds));
    assertThatThrownBy(() -> late.enter(HttpMethod.GET, headers, target("/test.txt"))).isInstanceOfSatisfying(
        S3Exception.class, refused -> assertThat(refused.code()).isEqualTo(S3Code.REQUEST_TIME_TOO_SKEWED));
    assertThat(new Gate(() -> KEYS, () -> THEN.plusSeconds(seconds % 900)).enter(HttpMethod.GET, headers,
        target("/test.txt")).user()).isEqualTo("user");
  }

  @Test
  void aPut_withAKeyThatIsEncoded_isLetIn() {
    HttpHeaders headers = headers(HOST, "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
        "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
        "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd", "Date", "Fri, 24 May 2013 00:00:00 GMT",
        "x-amz-storage-class", "REDUCED_REDUNDANCY");
    assertThat(enter(HttpMethod.PUT, "/test%24file.text", headers).seal()).isNull();
    assertThat(enter(HttpMethod.PUT, "/test$file.text", headers).user()).isEqualTo("user");
  }

  @Test
  void parameters_areSigned() {
    String names = "host;x-amz-content-sha256;x-amz-date";
    assertThat(enter(HttpMethod.GET, "/?lifecycle",
        headers(HOST, EMPTY, names, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")).user())
        .isEqualTo("user");
    assertThat(enter(HttpMethod.GET, "/?prefix=J&max-keys=2",
        headers(HOST, EMPTY, names, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")).user())
        .isEqualTo("user");
  }

  @Test
  void aSignatureInTheQuery_isLetIn_untilItExpires() {
    String uri = "/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=" + TestNode.KEY
        + "%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400"
        + "&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404";
    HttpHeaders headers = new DefaultHttpHeaders().set("Host", HOST);
    assertThat(enter(HttpMethod.GET, uri, headers).user()).isEqualTo("user");
    requireRefused(HttpMethod.GET, uri.replace("=86400", "=86401"), headers, S3Code.SIGNATURE_DOES_NOT_MATCH);
    requireRefused(HttpMethod.GET, uri.replace("=86400", "=9999999"), headers,
        S3Code.AUTHORIZATION_QUERY_PARAMETERS_ERROR);
    Gate late = new Gate(() -> KEYS, () -> THEN.plus(Duration.ofDays(1)).plusSeconds(1));
    assertThatThrownBy(() -> late.enter(HttpMethod.GET, headers, target(uri))).hasMessageContaining("expired");
  }

  private static ByteBuf chunked(String... pieces) {
    ByteBuf all = Unpooled.buffer();
    for (String each : pieces) {
      all.writeCharSequence(each, StandardCharsets.US_ASCII);
    }
    return all;
  }

  /// Decodes `body` in pieces of `bytes`, and compares what it has.
  private static Map<String, String> decode(ChunkedBody decoder, BodyChecks checks, ByteBuf body, int bytes) {
    StringBuilder found = new StringBuilder();
    for (int at = 0; at < body.readableBytes(); at += bytes) {
      ByteBuf piece = body.slice(at, Math.min(bytes, body.readableBytes() - at));
      for (ByteBuf slice = decoder.next(piece); slice != null; slice = decoder.next(piece)) {
        found.append(slice.toString(StandardCharsets.US_ASCII));
        checks.update(slice.nioBuffer());
        slice.release();
      }
    }
    Map<String, String> trailer = decoder.end();
    checks.verify(trailer);
    assertThat(found.toString()).isEqualTo("a".repeat(66_560));
    return trailer;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 87, 4096, 100_000})
  void signedChunks_areDecoded(int pieces) {
    HttpHeaders headers = headers("s3.amazonaws.com", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
        "content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length"
            + ";x-amz-storage-class",
        "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9", "content-encoding", "aws-chunked",
        "content-length", "66824", "x-amz-decoded-content-length", "66560", "x-amz-storage-class",
        "REDUCED_REDUNDANCY");
    Target target = Target.parse("/examplebucket/chunkObject.txt", "s3.amazonaws.com", List.of());
    String[] body = {"10000;chunk-signature=ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648\r\n",
      "a".repeat(65_536),
      "\r\n400;chunk-signature=0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497\r\n",
      "a".repeat(1024),
      "\r\n0;chunk-signature=b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9\r\n\r\n"};
    assertThat(decode(new ChunkedBody(66_560, gate.enter(HttpMethod.PUT, headers, target).seal(), false),
        new BodyChecks(headers), chunked(body), pieces)).isEmpty();
    String[] wrong = body.clone();
    wrong[3] = "a".repeat(1023) + "b";
    ChunkedBody decoder = new ChunkedBody(66_560, gate.enter(HttpMethod.PUT, headers, target).seal(), false);
    assertThatThrownBy(() -> decode(decoder, new BodyChecks(headers), chunked(wrong), pieces))
        .isInstanceOfSatisfying(S3Exception.class,
            refused -> assertThat(refused.code()).isEqualTo(S3Code.SIGNATURE_DOES_NOT_MATCH));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 87, 4096, 100_000})
  void aSignedTrailer_isDecoded_andItsChecksumCompared(int pieces) {
    HttpHeaders headers = headers("s3.amazonaws.com", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER",
        "content-encoding;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;x-amz-storage-class"
            + ";x-amz-trailer",
        "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e", "content-encoding", "aws-chunked",
        "x-amz-decoded-content-length", "66560", "x-amz-storage-class", "REDUCED_REDUNDANCY", "x-amz-trailer",
        "x-amz-checksum-crc32c");
    Target target = Target.parse("/examplebucket/chunkObject.txt", "s3.amazonaws.com", List.of());
    String[] body = {"10000;chunk-signature=b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2\r\n",
      "a".repeat(65_536),
      "\r\n400;chunk-signature=1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7\r\n",
      "a".repeat(1024), "\r\n0;chunk-signature=2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992\r\n",
      "x-amz-checksum-crc32c:sOO8/Q==\r\n",
      "x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n\r\n"};
    assertThat(decode(new ChunkedBody(66_560, gate.enter(HttpMethod.PUT, headers, target).seal(), true),
        new BodyChecks(headers), chunked(body), pieces)).containsOnlyKeys("x-amz-checksum-crc32c");
    String[] wrong = body.clone();
    wrong[5] = "x-amz-checksum-crc32c:sOO8/g==\r\n";
    ChunkedBody decoder = new ChunkedBody(66_560, gate.enter(HttpMethod.PUT, headers, target).seal(), true);
    assertThatThrownBy(() -> decode(decoder, new BodyChecks(headers), chunked(wrong), pieces))
        .isInstanceOfSatisfying(S3Exception.class,
            refused -> assertThat(refused.code()).isEqualTo(S3Code.SIGNATURE_DOES_NOT_MATCH));
    String[] none = body.clone();
    none[6] = "\r\n";
    ChunkedBody bare = new ChunkedBody(66_560, gate.enter(HttpMethod.PUT, headers, target).seal(), true);
    assertThatThrownBy(() -> decode(bare, new BodyChecks(headers), chunked(none), pieces))
        .isInstanceOf(S3Exception.class);
  }
}
