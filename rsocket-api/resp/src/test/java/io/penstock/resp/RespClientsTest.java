package io.penstock.resp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.redisson.Redisson;
import org.redisson.api.RBatch;
import org.redisson.api.RBinaryStream;
import org.redisson.api.RBucket;
import org.redisson.api.RFuture;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.Response;
import redis.clients.jedis.params.SetParams;

/// Clients that people have, each through its story at a door.
@Timeout(300)
final class RespClientsTest {
  private final OpenDoor door = OpenDoor.open();

  @AfterEach
  void end() {
    door.close();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] value(long seed, int length) {
    byte[] value = new byte[length];
    new Random(seed).nextBytes(value);
    return value;
  }

  @ParameterizedTest
  @EnumSource(RedisProtocol.class)
  void jedis(RedisProtocol protocol) {
    try (Jedis jedis = new Jedis(new HostAndPort("127.0.0.1", door.port()),
        DefaultJedisClientConfig.builder().protocol(protocol).user("u").password("p").database(2).build())) {
      assertThat(jedis.ping()).isEqualTo("PONG");
      assertThat(jedis.set(bytes("k"), value(1, 3_000_000))).isEqualTo("OK");
      assertThat(jedis.get(bytes("k"))).isEqualTo(value(1, 3_000_000));
      assertThat(jedis.set("e", "v", SetParams.setParams().ex(100).nx())).isEqualTo("OK");
      assertThat(jedis.ttl("e")).isEqualTo(100);
      assertThat(jedis.exists("k", "e", "nothing")).isEqualTo(2);
      assertThat(jedis.mget("e", "nothing")).containsExactly("v", null);
      assertThat(jedis.scan("0").getResult()).containsExactly("e", "k");
      Pipeline pipeline = jedis.pipelined();
      Response<String> set = pipeline.set("p", "1");
      Response<String> got = pipeline.get("p");
      Response<Long> removed = pipeline.del("p", "k");
      pipeline.sync();
      assertThat(set.get() + got.get() + removed.get()).isEqualTo("OK12");
      assertThat(jedis.get("p")).isNull();
    }
  }

  @Test
  void lettuce() {
    RedisClient client = RedisClient.create(RedisURI.create("redis://127.0.0.1:" + door.port()));
    try (StatefulRedisConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE)) {
      assertThat(connection.sync().set(bytes("k"), value(2, 1_000_000))).isEqualTo("OK");
      assertThat(connection.sync().get(bytes("k"))).isEqualTo(value(2, 1_000_000));
      assertThat(connection.sync().get(bytes("nothing"))).isNull();
      assertThat(connection.sync().exists(bytes("k"))).isEqualTo(1);
      assertThat(connection.sync().del(bytes("k"))).isEqualTo(1);
    } finally {
      client.shutdown(0, 10, TimeUnit.SECONDS);
    }
  }

  @Test
  void redisson() {
    Config config =
        new Config().setCodec(org.redisson.client.codec.ByteArrayCodec.INSTANCE).setNettyThreads(2).setThreads(2);
    config.useSingleServer().setAddress("redis://127.0.0.1:" + door.port()).setDatabase(2)
        .setConnectionPoolSize(2).setConnectionMinimumIdleSize(1).setSubscriptionConnectionMinimumIdleSize(0);
    RedissonClient client = Redisson.create(config);
    try {
      RBinaryStream chunk = client.getBinaryStream("chunk");
      chunk.set(value(4, 3_000_000));
      assertThat(chunk.get()).isEqualTo(value(4, 3_000_000));
      assertThat(chunk.size()).isEqualTo(3_000_000);
      assertThat(client.getBinaryStream("nothing").get()).isNull();
      RBucket<byte[]> brief = client.getBucket("brief");
      assertThat(brief.setIfAbsent(bytes("v"), Duration.ofSeconds(100))).isTrue();
      assertThat(brief.setIfAbsent(bytes("w"), Duration.ofSeconds(100))).isFalse();
      assertThat(brief.remainTimeToLive()).isEqualTo(100_000);
      assertThat(client.getKeys().countExists("chunk", "brief", "nothing")).isEqualTo(2);
      assertThat(client.getKeys().getKeys()).containsExactlyInAnyOrder("brief", "chunk");
      assertThat(client.getBuckets().get("brief", "nothing")).containsOnlyKeys("brief")
          .containsEntry("brief", bytes("v"));
      RBatch batch = client.createBatch();
      RFuture<Void> set = batch.<byte[]>getBucket("p").setAsync(bytes("1"));
      RFuture<byte[]> got = batch.<byte[]>getBucket("p").getAsync();
      batch.execute();
      assertThat(set.toCompletableFuture()).isCompleted();
      assertThat(got.toCompletableFuture().join()).isEqualTo(bytes("1"));
      assertThat(client.getKeys().delete("chunk", "brief", "p")).isEqualTo(3);
      assertThat(chunk.get()).isNull();
    } finally {
      client.shutdown(0, 10, TimeUnit.SECONDS);
    }
  }

  private static String run(@Nullable Path input, String... command) throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    if (input != null) {
      builder.redirectInput(input.toFile());
    }
    Process process = builder.start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
    assertThat(process.waitFor()).as(out).isZero();
    return out;
  }

  private static void assumeInstalled(String program) {
    boolean isThere = Arrays.stream(System.getenv("PATH").split(":"))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    assumeTrue(isThere, program + " is not installed");
  }

  @Test
  void redisCli() throws IOException, InterruptedException {
    assumeInstalled("redis-cli");
    String port = Integer.toString(door.port());
    assertThat(run(null, "redis-cli", "-p", port, "SET", "k", "hello")).isEqualTo("OK\n");
    assertThat(run(null, "redis-cli", "-3", "-p", port, "GET", "k")).isEqualTo("hello\n");
    Path file = Files.createTempFile("value", ".bin");
    try {
      Files.write(file, value(3, 2_000_000));
      assertThat(run(file, "redis-cli", "-p", port, "-x", "SET", "file")).isEqualTo("OK\n");
    } finally {
      Files.delete(file);
    }
    assertThat(run(null, "redis-cli", "-p", port, "GET", "file").getBytes(StandardCharsets.ISO_8859_1))
        .startsWith(value(3, 2_000_000));
    assertThat(run(null, "redis-cli", "-p", port, "--scan")).isEqualTo("file\nk\n");
  }

  @Test
  void redisPy() throws IOException, InterruptedException {
    String python = "/usr/bin/python3"; // that of Debian, whose packages others do not see
    assumeTrue(Files.isExecutable(Path.of(python)) && new ProcessBuilder(python, "-c", "import redis")
        .redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor() == 0,
        "redis-py is not installed");
    String story = """
        import os, redis, sys
        r = redis.Redis(port=int(sys.argv[1]), db=2)
        data = os.urandom(3_000_000)
        assert r.ping() and r.set('chunk', data) and r.get('chunk') == data
        assert r.exists('chunk', 'nothing') == 1 and r.get('nothing') is None
        assert r.set('short', b'v', ex=100) and r.ttl('short') == 100
        assert r.mget('short', 'nothing') == [b'v', None]
        pipe = r.pipeline(transaction=False)
        pipe.set('a', b'1').get('a').delete('a')
        assert pipe.execute() == [True, b'1', 1]
        assert sorted(r.scan_iter(match='*h*')) == [b'chunk', b'short'] and r.dbsize() == 2
        assert r.client_info()['db'] == 2
        assert r.delete('chunk', 'short') == 2
        print('told')
        """;
    assertThat(run(null, python, "-c", story, Integer.toString(door.port()))).isEqualTo("told\n");
  }

  @Test
  void redisBenchmark() throws IOException, InterruptedException {
    assumeInstalled("redis-benchmark");
    String out = run(null, "redis-benchmark", "-p", Integer.toString(door.port()), "-d", "65536", "-n", "200", "-r",
        "50", "-c", "4", "-t", "set,get", "--csv");
    assertThat(out).contains("\"SET\",").contains("\"GET\",").doesNotContainIgnoringCase("error");
    assertThat(door.figures().writes()).isEqualTo(200);
  }
}
