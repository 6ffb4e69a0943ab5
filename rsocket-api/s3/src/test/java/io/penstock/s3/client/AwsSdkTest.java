package io.penstock.s3.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.s3.TestNode;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.ResponseBytes;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.ChecksumAlgorithm;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;
import software.amazon.awssdk.services.s3.model.ObjectIdentifier;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.S3Object;

/// The client of AWS for Java, version 2.
@Timeout(120)
final class AwsSdkTest {
  private static final String BUCKET = "kv-cache";

  @TempDir
  private static Path folder;
  private static TestNode node;
  private static S3Client client;

  @BeforeAll
  static void start() throws IOException {
    node = TestNode.start(folder, "");
    client = client(AwsBasicCredentials.create(TestNode.KEY, TestNode.SECRET));
  }

  @AfterAll
  static void end() {
    client.close();
    node.close();
  }

  private static S3Client client(AwsCredentials credentials) {
    return S3Client.builder().region(Region.US_EAST_1).forcePathStyle(true)
        .endpointOverride(URI.create("http://localhost:" + node.port()))
        .credentialsProvider(StaticCredentialsProvider.create(credentials))
        .httpClient(UrlConnectionHttpClient.create()).build();
  }

  private static byte[] bytes(long seed, int length) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private static byte[] get(String key) {
    return client.getObjectAsBytes(get -> get.bucket(BUCKET).key(key)).asByteArray();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 4_500, 65_536, 1_000_000, 9_000_000})
  void anObjectOfAnyLength_comesBack(int length) {
    byte[] bytes = bytes(length, length);
    String tag = client.putObject(put -> put.bucket(BUCKET).key("any/" + length), RequestBody.fromBytes(bytes)).eTag();
    ResponseBytes<GetObjectResponse> read = client.getObjectAsBytes(get -> get.bucket(BUCKET).key("any/" + length));
    assertThat(read.asByteArray()).isEqualTo(bytes);
    assertThat(read.response().eTag()).isEqualTo(tag);
    assertThat(client.headObject(head -> head.bucket(BUCKET).key("any/" + length)).contentLength()).isEqualTo(length);
  }

  @ParameterizedTest
  @EnumSource(value = ChecksumAlgorithm.class, names = {"CRC32", "CRC32_C", "SHA1", "SHA256"})
  void aChecksum_isCompared(ChecksumAlgorithm algorithm) {
    byte[] bytes = bytes(1, 300_000);
    client.putObject(put -> put.bucket(BUCKET).key("sum/" + algorithm).checksumAlgorithm(algorithm),
        RequestBody.fromBytes(bytes));
    assertThat(get("sum/" + algorithm)).isEqualTo(bytes);
  }

  @Test
  void keysOfAnyCharacters_areTheirOwn() {
    List<String> keys = List.of("a b+c/d", "Qwen/Qwen3-8B@03020302@0@abab", "ü/日本", "x%2Fy",
        "tilde~*'()!", "a//b");
    for (String key : keys) {
      client.putObject(put -> put.bucket(BUCKET).key("odd/" + key), RequestBody.fromString(key));
    }
    for (String key : keys) {
      assertThat(get("odd/" + key)).isEqualTo(key.getBytes(StandardCharsets.UTF_8));
    }
    assertThat(client.listObjectsV2(list -> list.bucket(BUCKET).prefix("odd/")).contents()).extracting(S3Object::key)
        .containsExactlyInAnyOrderElementsOf(keys.stream().map(key -> "odd/" + key).toList());
  }

  @Test
  void aRange_comesAlone() {
    byte[] bytes = bytes(3, 2_000_000);
    client.putObject(put -> put.bucket(BUCKET).key("range"), RequestBody.fromBytes(bytes));
    for (int[] each : new int[][] {{0, 1}, {0, 2_000_000}, {262_000, 262_900}, {1_999_999, 2_000_000},
      {777, 1_234_567}}) {
      ResponseBytes<GetObjectResponse> part = client.getObjectAsBytes(get -> get.bucket(BUCKET).key("range")
          .range("bytes=" + each[0] + "-" + (each[1] - 1)));
      assertThat(part.asByteArray()).isEqualTo(Arrays.copyOfRange(bytes, each[0], each[1]));
      assertThat(part.response().contentRange()).isEqualTo("bytes " + each[0] + "-" + (each[1] - 1) + "/2000000");
    }
    assertThatThrownBy(() -> client.getObjectAsBytes(get -> get.bucket(BUCKET).key("range").range("bytes=2000000-")))
        .isInstanceOfSatisfying(S3Exception.class, refused -> {
          assertThat(refused.statusCode()).isEqualTo(416);
          assertThat(refused.awsErrorDetails().errorCode()).isEqualTo("InvalidRange");
        });
  }

  @Test
  void whatIsNotThere_isA404() {
    assertThatThrownBy(() -> get("none")).isInstanceOf(NoSuchKeyException.class);
    assertThatThrownBy(() -> client.headObject(head -> head.bucket(BUCKET).key("__nixl_probe__/connectivity_test")))
        .isInstanceOfSatisfying(S3Exception.class, missed -> assertThat(missed.statusCode()).isEqualTo(404));
    client.deleteObject(delete -> delete.bucket(BUCKET).key("none"));
  }

  @Test
  void aDeletedObject_isGone() {
    client.putObject(put -> put.bucket(BUCKET).key("gone"), RequestBody.fromString("x"));
    client.putObject(put -> put.bucket(BUCKET).key("gone/2"), RequestBody.fromString("x"));
    client.deleteObject(delete -> delete.bucket(BUCKET).key("gone"));
    assertThat(client.deleteObjects(delete -> delete.bucket(BUCKET).delete(all -> all.objects(
        ObjectIdentifier.builder().key("gone/2").build(), ObjectIdentifier.builder().key("no<&>ne").build())))
        .deleted()).hasSize(2);
    assertThat(client.listObjectsV2(list -> list.bucket(BUCKET).prefix("gone")).contents()).isEmpty();
  }

  @Test
  void lists_comeInPages_andByDelimiter() {
    List<String> keys = new ArrayList<>();
    for (int i = 0; i < 25; i++) {
      String key = "list/" + (i % 5) + "/" + i;
      keys.add(key);
      client.putObject(put -> put.bucket(BUCKET).key(key), RequestBody.fromString("v"));
    }
    assertThat(client.listObjectsV2Paginator(list -> list.bucket(BUCKET).prefix("list/").maxKeys(7)).contents())
        .extracting(S3Object::key).containsExactlyElementsOf(keys.stream().sorted().toList());
    ListObjectsV2Response grouped =
        client.listObjectsV2(list -> list.bucket(BUCKET).prefix("list/").delimiter("/").maxKeys(3));
    assertThat(grouped.commonPrefixes()).extracting(each -> each.prefix()).containsExactly("list/0/", "list/1/",
        "list/2/");
    assertThat(client.listObjectsV2(list -> list.bucket(BUCKET).prefix("list/").delimiter("/")
        .continuationToken(grouped.nextContinuationToken())).commonPrefixes()).extracting(each -> each.prefix())
        .containsExactly("list/3/", "list/4/");
    assertThat(client.listObjects(list -> list.bucket(BUCKET).prefix("list/").delimiter("/")).commonPrefixes())
        .hasSize(5);
  }

  @Test
  void anUploadInParts_isOneObject() {
    byte[] bytes = bytes(9, 1_300_000);
    String id = client.createMultipartUpload(create -> create.bucket(BUCKET).key("parts")).uploadId();
    List<CompletedPart> parts = new ArrayList<>();
    for (int i : new int[] {2, 1, 3}) {
      byte[] part = Arrays.copyOfRange(bytes, (i - 1) * 500_000, Math.min(bytes.length, i * 500_000));
      parts
          .add(CompletedPart.builder().partNumber(i).eTag(client.uploadPart(upload -> upload.bucket(BUCKET).key("parts")
              .uploadId(id).partNumber(i), RequestBody.fromBytes(part)).eTag()).build());
    }
    assertThatThrownBy(() -> get("parts")).isInstanceOf(NoSuchKeyException.class);
    assertThat(client.listParts(list -> list.bucket(BUCKET).key("parts").uploadId(id)).parts()).hasSize(3);
    assertThatThrownBy(
        () -> client.completeMultipartUpload(complete -> complete.bucket(BUCKET).key("parts").uploadId(id)
            .multipartUpload(all -> all.parts(parts))))
        .isInstanceOfSatisfying(S3Exception.class,
            refused -> assertThat(refused.awsErrorDetails().errorCode()).isEqualTo("InvalidPartOrder"));
    parts.sort(Comparator.comparing(CompletedPart::partNumber));
    client.completeMultipartUpload(complete -> complete.bucket(BUCKET).key("parts").uploadId(id)
        .multipartUpload(all -> all.parts(parts)));
    assertThat(get("parts")).isEqualTo(bytes);
    String other = client.createMultipartUpload(create -> create.bucket(BUCKET).key("parts2")).uploadId();
    client.uploadPart(upload -> upload.bucket(BUCKET).key("parts2").uploadId(other).partNumber(1),
        RequestBody.fromBytes(bytes));
    client.abortMultipartUpload(abort -> abort.bucket(BUCKET).key("parts2").uploadId(other));
    assertThatThrownBy(() -> client.listParts(list -> list.bucket(BUCKET).key("parts2").uploadId(other)))
        .isInstanceOf(S3Exception.class);
  }

  @Test
  void aSessionToken_isCompared() {
    try (S3Client token = client(AwsSessionCredentials.create("TEMP", "temporary-secret", "token-1"));
        S3Client wrong = client(AwsSessionCredentials.create("TEMP", "temporary-secret", "token-2"))) {
      token.putObject(put -> put.bucket(BUCKET).key("by/token"), RequestBody.fromString("mine"));
      assertThat(token.getObjectAsBytes(get -> get.bucket(BUCKET).key("by/token")).asUtf8String()).isEqualTo("mine");
      assertThatThrownBy(() -> wrong.getObjectAsBytes(get -> get.bucket(BUCKET).key("by/token")))
          .isInstanceOfSatisfying(S3Exception.class,
              refused -> assertThat(refused.awsErrorDetails().errorCode()).isEqualTo("InvalidToken"));
    }
  }

  @Test
  void anotherSecret_isRefused() {
    try (S3Client wrong = client(AwsBasicCredentials.create(TestNode.KEY, "another"))) {
      assertThatThrownBy(() -> wrong.putObject(put -> put.bucket(BUCKET).key("a"), RequestBody.fromString("x")))
          .isInstanceOfSatisfying(S3Exception.class, refused -> {
            assertThat(refused.statusCode()).isEqualTo(403);
            assertThat(refused.awsErrorDetails().errorCode()).isEqualTo("SignatureDoesNotMatch");
          });
    }
  }
}
