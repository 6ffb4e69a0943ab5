package io.penstock.s3.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.s3.TestNode;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.ChecksumAlgorithm;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.S3Object;

/// The client of AWS in C, as LMCache uses it.
@Timeout(120)
final class CrtClientTest {
  private static final String BUCKET = "lmcache";

  @TempDir
  private static Path folder;

  private static byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }

  @Test
  void itsStory_runs() throws IOException {
    try (TestNode node = TestNode.start(folder, "dram: 128MiB\n");
        S3AsyncClient client = S3AsyncClient.crtBuilder().region(Region.EU_NORTH_1).forcePathStyle(true)
            .endpointOverride(URI.create("http://127.0.0.1:" + node.port())).minimumPartSizeInBytes(8L << 20)
            .credentialsProvider(StaticCredentialsProvider.create(
                AwsBasicCredentials.create(TestNode.KEY, TestNode.SECRET)))
            .build()) {
      for (int length : new int[] {28, 1_000_000, 20_000_000}) { // the last goes and comes in parts
        String key = "Qwen/Qwen3-8B@03020302@0@" + length;
        client.putObject(put -> put.bucket(BUCKET).key(key), AsyncRequestBody.fromBytes(bytes(length))).join();
        assertThat(client.getObject(get -> get.bucket(BUCKET).key(key), AsyncResponseTransformer.toBytes()).join()
            .asByteArray()).isEqualTo(bytes(length));
        assertThat(client.headObject(head -> head.bucket(BUCKET).key(key)).join().contentLength()).isEqualTo(length);
      }
      client.putObject(put -> put.bucket(BUCKET).key("crc64").checksumAlgorithm(ChecksumAlgorithm.CRC64_NVME),
          AsyncRequestBody.fromBytes(bytes(5_000))).join();
      assertThat(client.listObjectsV2(list -> list.bucket(BUCKET).prefix("Qwen/")).join().contents())
          .extracting(S3Object::size).containsExactlyInAnyOrder(28L, 1_000_000L, 20_000_000L);
      assertThatThrownBy(() -> client.getObject(get -> get.bucket(BUCKET).key("none"),
          AsyncResponseTransformer.toBytes()).join()).hasCauseInstanceOf(S3Exception.class);
      assertThatThrownBy(() -> client.headObject(head -> head.bucket(BUCKET).key("none")).join())
          .hasCauseInstanceOf(S3Exception.class);
      client.deleteObject(delete -> delete.bucket(BUCKET).key("crc64")).join();
      assertThat(client.listObjectsV2(list -> list.bucket(BUCKET).prefix("crc")).join().contents()).isEmpty();
    }
  }
}
