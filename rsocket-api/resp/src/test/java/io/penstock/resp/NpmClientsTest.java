package io.penstock.resp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Clients of Node.js, each through its story at a door. Skipped without Node.js, or where a client is in none of: the
/// folder that the system property `penstock.npm` names, those of `NODE_PATH`, that of `npm root -g`.
@Timeout(300)
final class NpmClientsTest {
  private final OpenDoor door = OpenDoor.open();

  @AfterEach
  void end() {
    door.close();
  }

  @Test
  void ioredis() throws IOException, InterruptedException {
    tell("ioredis", """
        const Redis = require('ioredis');
        const redis = new Redis(port, '127.0.0.1', {db: 2});
        const lost = new Redis(port, '127.0.0.1', {db: 3});
        assert.equal(await redis.ping(), 'PONG');
        assert.equal(await redis.set('chunk', data), 'OK');
        assert(data.equals(await redis.getBuffer('chunk')));
        assert.equal(await redis.exists('chunk', 'nothing'), 1);
        assert.equal(await redis.get('nothing'), null);
        assert.equal(await lost.get('chunk'), null);
        assert.equal(await redis.set('short', 'v', 'EX', 100, 'NX'), 'OK');
        assert.equal(await redis.set('short', 'w', 'EX', 100, 'NX'), null);
        assert.equal(await redis.ttl('short'), 100);
        assert.deepEqual(await redis.mget('short', 'nothing'), ['v', null]);
        assert.deepEqual(await redis.pipeline().set('a', '1').get('a').del('a').exec(),
            [[null, 'OK'], [null, '1'], [null, 1]]);
        const names = [];
        for await (const page of redis.scanStream({match: '*h*'})) names.push(...page);
        assert.deepEqual(names.sort(), ['chunk', 'short']);
        await assert.rejects(redis.lpush('list', 'x'), /unknown command/);
        assert.equal(await redis.del('chunk', 'short'), 2);
        await Promise.all([redis.quit(), lost.quit()]);
        """);
  }

  @Test
  void nodeRedis() throws IOException, InterruptedException {
    tell("redis", """
        const {createClient, RESP_TYPES} = require('redis');
        for (const RESP of [2, 3]) {
          const redis = await createClient({RESP, url: `redis://127.0.0.1:${port}/2`}).connect();
          const binary = redis.withTypeMapping({[RESP_TYPES.BLOB_STRING]: Buffer});
          assert.equal(await redis.ping(), 'PONG');
          assert.equal(await redis.set('chunk', data), 'OK');
          assert(data.equals(await binary.get('chunk')));
          assert.equal(await redis.exists(['chunk', 'nothing']), 1);
          assert.equal(await redis.get('nothing'), null);
          assert.equal(await redis.set('short', 'v', {EX: 100, NX: true}), 'OK');
          assert.equal(await redis.set('short', 'w', {EX: 100, NX: true}), null);
          assert.equal(await redis.ttl('short'), 100);
          assert.deepEqual(await redis.mGet(['short', 'nothing']), ['v', null]);
          assert.deepEqual(await Promise.all([redis.set('a', '1'), redis.get('a'), redis.del('a')]), ['OK', '1', 1]);
          const names = [];
          for await (const page of redis.scanIterator({MATCH: '*h*'})) names.push(...page);
          assert.deepEqual(names.sort(), ['chunk', 'short']);
          assert.equal(await redis.dbSize(), 2);
          await assert.rejects(redis.lPush('list', 'x'), /unknown command/);
          assert.equal(await redis.del(['chunk', 'short']), 2);
          await redis.close();
        }
        """);
  }

  /// @param client its package
  /// @param story with `port`, `data` and `assert`
  private void tell(String client, String story) throws IOException, InterruptedException {
    assumeTrue(run(null, "node", "--version").isPresent(), "node is not installed");
    Optional<Path> folder = folders().filter(each -> Files.isDirectory(each.resolve(client))).findFirst();
    assumeTrue(folder.isPresent(), client + " is not installed");
    assertThat(run(folder.get(), "node", "-e", """
        const assert = require('assert/strict');
        const port = Number(process.argv[1]), data = require('crypto').randomBytes(3_000_000);
        (async () => {
        %s
        })().then(() => console.log('told'), error => { console.log(error); process.exit(1); });
        """.formatted(story), Integer.toString(door.port()))).hasValue("told\n");
  }

  private static Stream<Path> folders() throws IOException, InterruptedException {
    Stream<String> named = Stream.of(System.getProperty("penstock.npm", ""),
        System.getenv().getOrDefault("NODE_PATH", "")).flatMap(path -> Stream.of(path.split(":")));
    return Stream.concat(named, run(null, "npm", "root", "-g").stream()).map(String::strip)
        .filter(each -> !each.isEmpty()).map(Path::of);
  }

  /// What a command says; empty if it is not installed.
  private static Optional<String> run(@Nullable Path modules, String... command)
      throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    if (modules != null) {
      builder.environment().put("NODE_PATH", modules.toString());
    }
    Process process;
    try {
      process = builder.start();
    } catch (IOException e) {
      return Optional.empty();
    }
    try {
      process.getOutputStream().close();
      String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor()).as(out).isZero();
      return Optional.of(out);
    } finally {
      process.destroyForcibly();
    }
  }
}
