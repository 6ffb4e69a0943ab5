package io.penstock.s3;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.MultipartUpload;

/// Uploads in parts, as documents tell of them.
@Timeout(120)
final class UploadsTest {
  private static final byte[] NONE = new byte[0];

  @TempDir
  private Path folder;

  private static String begin(RawClient client, String target) throws IOException {
    return all("UploadId", client.ask("POST", target + "?uploads", "", NONE).text()).getFirst();
  }

  /// The texts of all elements of this name.
  private static List<String> all(String name, String document) {
    List<String> found = new ArrayList<>();
    Matcher each = Pattern.compile("<" + name + ">([^<]*)</" + name + ">").matcher(document);
    while (each.find()) {
      found.add(each.group(1));
    }
    return found;
  }

  private static String text(RawClient client, String target) throws IOException {
    RawClient.Answer answer = client.get(target);
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    return answer.text();
  }

  /// Uploads an object of one part.
  ///
  /// @return the document of its end
  private static String upload(RawClient client, String target) throws IOException {
    String id = begin(client, target);
    RawClient.Answer part = client.ask("PUT", target + "?partNumber=1&uploadId=" + id, "", new byte[5_000]);
    String end = "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>" + part.headers().get("etag")
        + "</ETag></Part></CompleteMultipartUpload>";
    return client.ask("POST", target + "?uploadId=" + id, "", end.getBytes(StandardCharsets.UTF_8)).text();
  }

  @Test
  void location_isTheAddressThatTheClientUsed() throws IOException {
    try (TestNode node = TestNode.start(folder, "s3.domains: pool.example\n");
        RawClient paths = new RawClient(node.port());
        RawClient hosts = RawClient.withHost(node.port(), "b.pool.example:9000")) {
      assertThat(all("Location", upload(paths, "/b/d/mp%20x")))
          .containsExactly("http://127.0.0.1:" + node.port() + "/b/d/mp%20x");
      assertThat(all("Location", upload(hosts, "/d/mp"))).containsExactly("http://b.pool.example:9000/d/mp");
      assertThat(paths.ask("HEAD", "/b/d/mp", "", NONE).status()).isEqualTo(200);
    }
  }

  @Test
  void listOfUploads_hasThoseThatHaveBegun() throws IOException {
    try (TestNode node = TestNode.start(folder, ""); RawClient client = new RawClient(node.port())) {
      Instant before = Instant.now();
      String id = begin(client, "/b/d/mp");
      String other = begin(client, "/b/a");
      begin(client, "/c/a");
      String list = text(client, "/b?uploads");
      assertThat(all("Key", list)).containsExactly("a", "d/mp");
      assertThat(all("UploadId", list)).containsExactly(other, id);
      assertThat(all("IsTruncated", list)).containsExactly("false");
      assertThat(all("Initiated", list)).hasSize(2).allSatisfy(moment -> assertThat(Instant.parse(moment))
          .isBetween(before.minusMillis(1), Instant.now()));
      client.ask("DELETE", "/b/a?uploadId=" + other, "", NONE);
      assertThat(all("UploadId", text(client, "/b?uploads"))).containsExactly(id);
      upload(client, "/b/whole");
      assertThat(all("Key", text(client, "/b?uploads"))).containsExactly("d/mp");
    }
  }

  @Test
  void listOfUploads_hasPages() throws IOException {
    try (TestNode node = TestNode.start(folder, ""); RawClient client = new RawClient(node.port())) {
      List<String> ids = new ArrayList<>();
      for (String key : List.of("a", "k", "k", "k", "z")) {
        ids.add(begin(client, "/b/" + key));
      }
      List<String> found = new ArrayList<>();
      String page = text(client, "/b?uploads&max-uploads=2");
      while (all("IsTruncated", page).contains("true")) {
        assertThat(all("MaxUploads", page)).containsExactly("2");
        assertThat(all("UploadId", page)).hasSize(2);
        found.addAll(all("UploadId", page));
        page = text(client, "/b?uploads&max-uploads=2&key-marker=" + all("NextKeyMarker", page).getFirst()
            + "&upload-id-marker=" + all("NextUploadIdMarker", page).getFirst());
      }
      found.addAll(all("UploadId", page));
      assertThat(found).containsExactlyInAnyOrderElementsOf(ids);
      assertThat(all("Key", text(client, "/b?uploads&key-marker=k"))).containsExactly("z");
      String none = text(client, "/b?uploads&max-uploads=0");
      assertThat(all("IsTruncated", none)).containsExactly("false");
      assertThat(all("Key", none)).isEmpty();
    }
  }

  @Test
  void listOfUploads_hasPrefixesAndKeysInPercentEncoding() throws IOException {
    try (TestNode node = TestNode.start(folder, ""); RawClient client = new RawClient(node.port())) {
      for (String key : List.of("d/1", "d/2", "e/1", "d%20x")) {
        begin(client, "/b/" + key);
      }
      assertThat(all("Key", text(client, "/b?uploads&prefix=d&encoding-type=url")))
          .containsExactly("d%20x", "d/1", "d/2");
      String first = text(client, "/b?uploads&delimiter=/&max-uploads=2");
      assertThat(all("Key", first)).containsExactly("d x");
      assertThat(first).contains("<CommonPrefixes><Prefix>d/</Prefix></CommonPrefixes>");
      assertThat(all("NextKeyMarker", first)).containsExactly("d/");
      String second = text(client, "/b?uploads&delimiter=/&key-marker=d/");
      assertThat(second).contains("<CommonPrefixes><Prefix>e/</Prefix></CommonPrefixes>")
          .doesNotContain(">d/</Prefix>");
    }
  }

  @Test
  void listOfNoParts_isEmpty() throws IOException {
    try (TestNode node = TestNode.start(folder, ""); RawClient client = new RawClient(node.port())) {
      String id = begin(client, "/b/k");
      client.ask("PUT", "/b/k?partNumber=1&uploadId=" + id, "", new byte[5_000]);
      String none = text(client, "/b/k?max-parts=0&uploadId=" + id);
      assertThat(all("IsTruncated", none)).containsExactly("false");
      assertThat(all("PartNumber", none)).isEmpty();
    }
  }

  @Test
  void listOfUploads_hasThoseOfItsSpaceAlone() throws IOException {
    try (TestNode node = TestNode.start(folder, "s3.spaces: values,temp=tenant\n");
        RawClient client = new RawClient(node.port());
        S3Client temp = S3Client.builder().region(Region.US_EAST_1).forcePathStyle(true)
            .endpointOverride(URI.create("http://localhost:" + node.port()))
            .credentialsProvider(StaticCredentialsProvider
                .create(AwsSessionCredentials.create("TEMP", "temporary-secret", "token-1")))
            .httpClient(UrlConnectionHttpClient.create()).build()) {
      String id = begin(client, "/b/k");
      String other = temp.createMultipartUpload(create -> create.bucket("b").key("k")).uploadId();
      assertThat(all("UploadId", text(client, "/b?uploads"))).containsExactly(id);
      assertThat(temp.listMultipartUploads(list -> list.bucket("b")).uploads()).extracting(MultipartUpload::uploadId)
          .containsExactly(other);
    }
  }

  @Test
  void listOfUploads_hasThoseOfItsUserAlone() throws IOException {
    try (TestNode node = TestNode.start(folder, "s3.prefix: none,engine=own/\n");
        RawClient client = new RawClient(node.port())) {
      begin(client, "/b/k");
      assertThat(all("Key", text(client, "/b?uploads"))).containsExactly("k");
      assertThat(all("Key", text(client, "/own?uploads"))).as("names of values begin own/b/k").isEmpty();
    }
  }
}
