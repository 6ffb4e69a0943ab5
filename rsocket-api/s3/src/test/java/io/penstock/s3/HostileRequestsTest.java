package io.penstock.s3;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Requests that break rules, byte by byte, and what the door answers.
@Timeout(120)
final class HostileRequestsTest {
  private static final byte[] NONE = new byte[0];

  @TempDir
  private static Path folder;
  private static TestNode node;

  @BeforeAll
  static void start() throws IOException {
    node = TestNode.start(folder, "s3.value.most: 1MiB\n");
  }

  @AfterAll
  static void end() {
    node.close();
  }

  private static RawClient client() throws IOException {
    return new RawClient(node.port());
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static void requireRefused(RawClient.Answer answer, int status, String code) {
    assertThat(answer.text()).contains("<Error>", "<Code>" + code + "</Code>");
    assertThat(answer.status()).isEqualTo(status);
    assertThat(answer.headers()).containsKeys("x-amz-request-id", "x-amz-id-2");
  }

  @Test
  void aSignatureOfVersionTwo_hearsThatFourIsNeeded() throws IOException {
    try (RawClient client = client()) {
      client.send("GET /b/k?AWSAccessKeyId=" + TestNode.KEY + "&Signature=vjbyPxybdZaNmGa%2ByT272YEAiv4%3D&Expires=1"
          + " HTTP/1.1\r\nHost: a\r\n\r\n");
      RawClient.Answer inQuery = client.answer(false);
      client.send("GET /b/k HTTP/1.1\r\nHost: a\r\nAuthorization: AWS " + TestNode.KEY
          + ":vjbyPxybdZaNmGa+yT272YEAiv4=\r\n\r\n");
      for (RawClient.Answer answer : new RawClient.Answer[] {inQuery, client.answer(false)}) {
        requireRefused(answer, 400, "InvalidRequest");
        assertThat(answer.text()).contains("signature must be of version 4, AWS4-HMAC-SHA256 (was of version 2)");
      }
    }
  }

  @Test
  void aMethodThatAResourceHasNot_isNamedWithTheRule() throws IOException {
    try (RawClient client = client()) {
      RawClient.Answer bucket = client.ask("DELETE", "/b", "", NONE);
      requireRefused(bucket, 405, "MethodNotAllowed");
      assertThat(bucket.text()).contains(
          "method must be GET, HEAD or PUT of a bucket, or POST with delete: no bucket can be removed (was DELETE)");
      RawClient.Answer object = client.ask("PATCH", "/b/k", "", NONE);
      requireRefused(object, 405, "MethodNotAllowed");
      assertThat(object.text()).contains("method must be GET, HEAD, PUT, POST or DELETE of an object (was PATCH)");
    }
  }

  @Test
  void aRequestThatIsNotHttp_isRefused_andTheConnectionEnds() throws IOException {
    for (String text : new String[] {"\u0001\u0002\r\n\r\n", "GET / HTTP/9.9.9\r\n\r\n"}) {
      try (RawClient client = client()) {
        client.send(text);
        requireRefused(client.answer(false), 400, "InvalidRequest");
        assertThat(client.isEnded()).isTrue();
      }
    }
  }

  @Test
  void aRequestThatIsNotHttp_hearsWhatIsWrong() throws IOException {
    try (RawClient client = client()) {
      client.send("PUT /b/k HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n");
      RawClient.Answer answer = client.answer(false);
      requireRefused(answer, 400, "InvalidRequest");
      assertThat(answer.text()).contains("request must be in the form of HTTP (Content-Length", "Transfer-Encoding");
    }
  }

  @Test
  void aHeadThatIsTooLong_isRefused() throws IOException {
    for (String text : new String[] {"GET /" + "a".repeat(20_000) + " HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nx: " + "a".repeat(40_000) + "\r\n\r\n"}) {
      try (RawClient client = client()) {
        client.send(text);
        requireRefused(client.answer(false), 400, "RequestHeaderSectionTooLarge");
        assertThat(client.isEnded()).isTrue();
      }
    }
  }

  @Test
  void anUnsignedRequest_isRefused_andTheConnectionGoesOn() throws IOException {
    try (RawClient client = client()) {
      client.send("PUT /b/k HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
      requireRefused(client.answer(false), 403, "AccessDenied");
      client.send("HEAD /b/k HTTP/1.1\r\nHost: a\r\n\r\n");
      RawClient.Answer head = client.answer(true);
      assertThat(head.status()).isEqualTo(403);
      client.send("GET /b/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=x HTTP/1.1\r\nHost: a\r\n\r\n");
      requireRefused(client.answer(false), 400, "AuthorizationQueryParametersError");
    }
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {"/b/k?acl|501|NotImplemented", "/b/k?versionId=1|501|NotImplemented",
    "/b?uploads&max-uploads=x|400|InvalidArgument", "/b?uploads&encoding-type=x|400|InvalidArgument",
    "/-b/k|400|InvalidBucketName", "/b/none|404|NoSuchKey",
    "/b/k?uploadId=x|404|NoSuchUpload", "/b?list-type=2&max-keys=x|400|InvalidArgument",
    "/b?list-type=2&continuation-token=*|400|InvalidArgument",
    "/b?list-type=2&continuation-token=garbage|400|InvalidArgument",
    "/b?list-type=2&continuation-token=|400|InvalidArgument", "/b?list-type=3|400|InvalidArgument",
    "/b?encoding-type=x|400|InvalidArgument"})
  void aGetOfWhatIsNotThere_namesTheReason(String target, int status, String code) throws IOException {
    try (RawClient client = client()) {
      requireRefused(client.get(target), status, code);
    }
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|',
      value = {"/b/k?acl|parameter acl must be left out: this door has nothing for it (was given)",
        "/b?max-keys=x|max-keys must be a number from 0 on (was x)",
        "/b?encoding-type=x|encoding-type must be url (was x)",
        "/b?list-type=3|list-type must be 2, or not given (was 3)",
        "/b?list-type=2&continuation-token=eA|continuation-token must be the NextContinuationToken of a list (was eA)",
        "/-b/k|bucket must be 1 to 255 letters, digits and ._- , a letter or digit first (was -b)"})
  void aRefusal_saysTheRuleAndWhatWasSent(String target, String text) throws IOException {
    try (RawClient client = client()) {
      assertThat(client.get(target).text()).contains("<Message>" + text + "</Message>");
    }
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {"x|60|20260101T000000Z|credential must be KEY/yyyyMMdd/REGION/s3/aws4_request"
      + " (has another form)",
    "k/20260101/r/s3/aws4_request|x|20260101T000000Z|X-Amz-Expires must be from 0 to 604800 seconds (was x)",
    "k/20260101/r/s3/aws4_request|60|1 May|X-Amz-Date must be yyyyMMdd'T'HHmmss'Z' (was 1 May)",
    "k/20260101/r/s3/aws4_request|60|20260102T000000Z|credential must have the day of the request, 20260102"
        + " (had 20260101)"})
  void aSignatureInTheQuery_hearsWhichPartIsWrong(String credential, String expires, String date, String text)
      throws IOException {
    try (RawClient client = client()) {
      client.send("GET /b/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=" + credential + "&X-Amz-Expires="
          + expires + "&X-Amz-Date=" + date.replace(" ", "%20")
          + " HTTP/1.1\r\nHost: a\r\n\r\n");
      assertThat(client.answer(false).text()).contains("<Message>" + text + "</Message>");
    }
  }

  @Test
  void anOldSignature_hearsBothTimes_andAnUnknownKeyThatItIsOne() throws IOException {
    try (RawClient client = client()) {
      client.send(claimed("20260101T000000Z"));
      RawClient.Answer old = client.answer(false);
      requireRefused(old, 403, "RequestTimeTooSkewed");
      assertThat(old.text()).containsPattern(
          "time of the request must be within 15 minutes of the node's, 20[0-9T:.-]+Z \\(was 2026-01-01T00:00:00Z\\)");
      client.send(claimed(DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC)
          .format(Instant.now())));
      RawClient.Answer unknown = client.answer(false);
      requireRefused(unknown, 403, "InvalidAccessKeyId");
      assertThat(unknown.text()).contains("access key must be one of this node (is unknown)");
    }
  }

  /// A request with a signature that no secret gives.
  private static String claimed(String time) {
    return "GET /b/k HTTP/1.1\r\nHost: a\r\nx-amz-date: " + time + "\r\nx-amz-content-sha256: UNSIGNED-PAYLOAD\r\n"
        + "Authorization: AWS4-HMAC-SHA256 Credential=other/" + time.substring(0, 8)
        + "/r/s3/aws4_request, SignedHeaders=host;x-amz-date;x-amz-content-sha256, Signature=" + "0".repeat(64)
        + "\r\n\r\n";
  }

  @Test
  void aPercentSignWithoutDigits_isNamed() throws IOException {
    try (RawClient client = client()) {
      client.send("GET /b/a%4 HTTP/1.1\r\nHost: a\r\n\r\n");
      assertThat(client.answer(false).text())
          .contains("a percent sign must have two hexadecimal digits behind it (was %4)");
    }
  }

  @Test
  void aKeyThatIsTooLong_isRefused() throws IOException {
    try (RawClient client = client()) {
      assertThat(client.ask("PUT", "/b/" + "k".repeat(1024), "", bytes("v")).status()).isEqualTo(200);
      requireRefused(client.ask("PUT", "/b/" + "k".repeat(1025), "", bytes("v")), 400, "KeyTooLongError");
    }
  }

  @Test
  void aLengthThatIsMissingOrTooGreat_isRefused() throws IOException {
    try (RawClient client = client()) {
      client.send(client.head("PUT", "/b/k", "Transfer-Encoding: chunked\r\n") + "1\r\na\r\n0\r\n\r\n");
      requireRefused(client.answer(false), 411, "MissingContentLength");
      client.send(client.head("PUT", "/b/k", "Content-Length: 1048577\r\n"));
      requireRefused(client.answer(false), 400, "EntityTooLarge");
    }
  }

  @Test
  void aLengthThatDoesNotFit_storesNothing() throws IOException {
    try (RawClient client = client()) {
      String chunked = "x-amz-content-sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER\r\nContent-Encoding: aws-chunked\r\n"
          + "x-amz-decoded-content-length: 6\r\n";
      requireRefused(client.ask("PUT", "/b/cut", chunked, bytes("5\r\nhello\r\n0\r\n\r\n")), 400, "IncompleteBody");
      requireRefused(client.get("/b/cut"), 404, "NoSuchKey");
      requireRefused(client.ask("PUT", "/b/cut", chunked + "x-amz-trailer: x-amz-checksum-crc32\r\n",
          bytes("6\r\nhello!\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n")), 400, "BadDigest");
      requireRefused(client.ask("PUT", "/b/cut", chunked + "x-amz-trailer: x-amz-checksum-crc32\r\n",
          bytes("6\r\nhello!\r\n0\r\n\r\n")), 400, "MalformedTrailerError");
      requireRefused(client.get("/b/cut"), 404, "NoSuchKey");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "no document", "<Delete>", "<Delete></Delete>",
    "<!DOCTYPE a [<!ENTITY b \"c\"><!ENTITY d \"&b;&b;\">]><Delete><Object><Key>&d;</Key></Object></Delete>",
    "<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><Delete><Object><Key>&a;</Key></Object></Delete>",
    "<Delete><Object><a><a><a><a><a><a><a><a>x</a></a></a></a></a></a></a></a></Object></Delete>",
    "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber></Part></CompleteMultipartUpload>"})
  void aHostileDocument_isRefused(String text) throws IOException {
    try (RawClient client = client()) {
      requireRefused(client.ask("POST", "/b?delete", "", bytes(text)), 400, "MalformedXML");
    }
  }

  @Test
  void aNumberOfAPart_hasItsBounds() throws IOException {
    try (RawClient client = client()) {
      String begun = client.ask("POST", "/b/p?uploads", "", NONE).text();
      String id = begun.replaceAll("(?s).*<UploadId>(.*)</UploadId>.*", "$1");
      for (String number : new String[] {"0", "10001", "-1", "x"}) {
        requireRefused(client.ask("PUT", "/b/p?partNumber=" + number + "&uploadId=" + id, "", bytes("v")), 400,
            "InvalidArgument");
      }
      requireRefused(client.ask("PUT", "/b/other?partNumber=1&uploadId=" + id, "", bytes("v")), 404, "NoSuchUpload");
      requireRefused(client.ask("POST", "/b/p?uploadId=" + id, "", bytes("<CompleteMultipartUpload><Part><PartNumber>1"
          + "</PartNumber><ETag>x</ETag></Part></CompleteMultipartUpload>")), 400, "InvalidPart");
      RawClient.Answer ended = client.ask("DELETE", "/b/p?uploadId=" + id, "", NONE);
      assertThat(ended.status()).isEqualTo(204);
      assertThat(ended.headers()).as("a client of Amazon's C library wants a header").isNotEmpty();
    }
  }

  @Test
  void aClientThatWaits_isToldToGoOn_onlyIfItMay() throws IOException {
    try (RawClient client = client()) {
      client.send(client.head("PUT", "/b/wait", "Content-Length: 5\r\nExpect: 100-continue\r\n"));
      assertThat(client.answer(false).status()).isEqualTo(100);
      client.send("hello");
      assertThat(client.answer(false).status()).isEqualTo(200);
      assertThat(client.get("/b/wait").text()).isEqualTo("hello");
      client.send("PUT /b/wait HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
      requireRefused(client.answer(false), 403, "AccessDenied");
      assertThat(client.isEnded()).isTrue();
    }
  }

  @Test
  void requestsWithoutAWait_areAnsweredInOrder() throws IOException {
    try (RawClient client = client()) {
      StringBuilder all = new StringBuilder();
      for (int i = 0; i < 10; i++) {
        all.append(client.head("PUT", "/b/pipe" + i, "Content-Length: 2\r\n")).append("v").append(i);
        all.append(client.head("GET", "/b/pipe" + i, ""));
      }
      client.send(all.toString());
      for (int i = 0; i < 10; i++) {
        assertThat(client.answer(false).status()).isEqualTo(200);
        assertThat(client.answer(false).text()).isEqualTo("v" + i);
      }
    }
  }

  @Test
  void bytesOneByOne_makeTheSameRequest() throws IOException {
    try (RawClient client = client()) {
      byte[] all = (client.head("PUT", "/b/slow", "Content-Length: 300\r\n") + "a".repeat(300))
          .getBytes(StandardCharsets.ISO_8859_1);
      for (byte each : all) {
        client.send(new byte[] {each});
      }
      assertThat(client.answer(false).status()).isEqualTo(200);
      assertThat(client.get("/b/slow").text()).isEqualTo("a".repeat(300));
    }
  }

  @Test
  void conditions_areKept() throws IOException {
    try (RawClient client = client()) {
      String tag = client.ask("PUT", "/b/if", "If-None-Match: *\r\n", bytes("1")).headers().get("etag");
      requireRefused(client.ask("PUT", "/b/if", "If-None-Match: *\r\n", bytes("2")), 412, "PreconditionFailed");
      requireRefused(client.ask("GET", "/b/if", "If-Match: \"x\"\r\n", NONE), 412, "PreconditionFailed");
      requireRefused(client.ask("PUT", "/b/if", "If-Match: \"x\"\r\n", bytes("2")), 412, "PreconditionFailed");
      requireRefused(client.ask("PUT", "/b/none", "If-Match: \"x\"\r\n", bytes("2")), 404, "NoSuchKey");
      requireRefused(client.ask("GET", "/b/if?partNumber=2", "", NONE), 416, "InvalidPartNumber");
      assertThat(client.ask("GET", "/b/if?partNumber=1", "", NONE).text()).isEqualTo("1");
      assertThat(client.ask("GET", "/b/if", "If-Match: " + tag + "\r\n", NONE).text()).isEqualTo("1");
      assertThat(client.ask("GET", "/b/if", "If-None-Match: " + tag + "\r\n", NONE).status()).isEqualTo(304);
      assertThat(client.get("/b/if").text()).isEqualTo("1");
    }
  }

  @Test
  void keysThatAreNoText_areTheirOwn() throws IOException {
    try (RawClient client = client()) {
      for (String key : new String[] {"%FF", "%FE%00", "%C3%BF", "%EF%B7%90x"}) {
        assertThat(client.ask("PUT", "/bytes/" + key, "", bytes(key)).status()).isEqualTo(200);
      }
      for (String key : new String[] {"%FF", "%FE%00", "%C3%BF", "%EF%B7%90x"}) {
        assertThat(client.get("/bytes/" + key).text()).isEqualTo(key);
        assertThat(client.get("/bytes?list-type=2&encoding-type=url").text()).contains("<Key>" + key + "</Key>");
      }
    }
  }
}
