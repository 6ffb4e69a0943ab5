package io.penstock.s3.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.s3.TestNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Clients of S3 in Python, where they are installed: `boto3`, `s3cmd`, `aws`.
@Timeout(240)
final class PythonClientsTest {
  /// That of Debian, whose packages others do not see.
  private static final String PYTHON = "/usr/bin/python3";
  private static final String STORY = """
      import boto3, sys, os
      from botocore.config import Config
      from botocore.exceptions import ClientError
      s3 = boto3.client('s3', endpoint_url=sys.argv[1], region_name='us-east-1', aws_access_key_id=sys.argv[2],
          aws_secret_access_key=sys.argv[3], config=Config(signature_version='s3v4', s3={'addressing_style': 'path'}))
      data = os.urandom(700_000)
      s3.create_bucket(Bucket='boto')
      s3.put_object(Bucket='boto', Key='a/b c', Body=data)
      assert s3.get_object(Bucket='boto', Key='a/b c')['Body'].read() == data
      assert s3.get_object(Bucket='boto', Key='a/b c', Range='bytes=5-99')['Body'].read() == data[5:100]
      assert s3.head_object(Bucket='boto', Key='a/b c')['ContentLength'] == len(data)
      assert [o['Key'] for o in s3.list_objects_v2(Bucket='boto')['Contents']] == ['a/b c']
      up = s3.create_multipart_upload(Bucket='boto', Key='m')['UploadId']
      tags = [s3.upload_part(Bucket='boto', Key='m', UploadId=up, PartNumber=n, Body=data)['ETag'] for n in (1, 2)]
      assert [u['UploadId'] for u in s3.list_multipart_uploads(Bucket='boto')['Uploads']] == [up]
      s3.complete_multipart_upload(Bucket='boto', Key='m', UploadId=up,
          MultipartUpload={'Parts': [{'PartNumber': n + 1, 'ETag': t} for n, t in enumerate(tags)]})
      assert s3.get_object(Bucket='boto', Key='m')['Body'].read() == data + data
      try:
          s3.delete_bucket(Bucket='boto')
          sys.exit('a bucket went')
      except ClientError as e:
          assert e.response['Error']['Code'] == 'MethodNotAllowed'
          assert 'no bucket can be removed' in e.response['Error']['Message']
      import urllib.request, urllib.error
      def signed(client, method, **params):
          return client.generate_presigned_url(method, Params={'Bucket': 'boto', **params}, ExpiresIn=600)
      assert urllib.request.urlopen(signed(s3, 'get_object', Key='a/b c')).read() == data
      urllib.request.urlopen(urllib.request.Request(signed(s3, 'put_object', Key='p'), data=data, method='PUT'))
      assert s3.get_object(Bucket='boto', Key='p')['Body'].read() == data
      def plain(url, **config):
          return boto3.client('s3', endpoint_url=url, region_name='us-east-1', aws_access_key_id=sys.argv[2],
              aws_secret_access_key=sys.argv[3], config=Config(**config))
      hosts = plain(sys.argv[1].replace('127.0.0.1', 'localhost'), signature_version='s3v4',
          s3={'addressing_style': 'virtual'})
      url = signed(hosts, 'get_object', Key='p')
      assert url.startswith('http://boto.localhost:'), url
      host = url.split('/')[2]
      request = urllib.request.Request(url.replace(host, sys.argv[1].split('/')[2]), headers={'Host': host})
      assert urllib.request.urlopen(request).read() == data
      try:
          urllib.request.urlopen(signed(plain(sys.argv[1]), 'get_object', Key='p'))
          print('version 2')
      except urllib.error.HTTPError as e:
          assert e.code == 400 and b'signature_version s3v4 of boto3' in e.read()
          print('version 4 alone')
      s3.delete_objects(Bucket='boto', Delete={'Objects': [{'Key': 'a/b c'}, {'Key': 'm'}, {'Key': 'p'}]})
      try:
          s3.head_object(Bucket='boto', Key='m')
          sys.exit('still there')
      except ClientError as e:
          assert e.response['ResponseMetadata']['HTTPStatusCode'] == 404
      print('told')
      """;

  @TempDir
  private Path folder;

  private record Run(int code, String output) {}

  private Run run(Map<String, String> variables, String... command) throws IOException, InterruptedException {
    Path output = folder.resolve("output");
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
    builder.environment().putAll(variables);
    Process process = builder.start();
    if (!process.waitFor(200, TimeUnit.SECONDS)) {
      process.destroyForcibly();
    }
    return new Run(process.waitFor(), Files.readString(output, StandardCharsets.UTF_8));
  }

  private boolean isThere(String... command) throws InterruptedException {
    try {
      return run(Map.of(), command).code() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void boto3_tellsItsStory() throws IOException, InterruptedException {
    assumeTrue(isThere(PYTHON, "-c", "import boto3"), "boto3 is not installed");
    Path script = Files.writeString(folder.resolve("story.py"), STORY);
    try (TestNode node = TestNode.start(folder, "s3.domains: localhost\n")) {
      Run told =
          run(Map.of(), PYTHON, script.toString(), "http://127.0.0.1:" + node.port(), TestNode.KEY, TestNode.SECRET);
      assertThat(told.output()).contains("told", "version 4 alone");
    }
  }

  @Test
  void s3cmd_tellsItsStory() throws IOException, InterruptedException {
    assumeTrue(isThere("s3cmd", "--version"), "s3cmd is not installed");
    try (TestNode node = TestNode.start(folder, "")) {
      List<String> base =
          List.of("s3cmd", "--access_key=" + TestNode.KEY, "--secret_key=" + TestNode.SECRET, "--no-ssl",
              "--host=127.0.0.1:" + node.port(), "--host-bucket=127.0.0.1:" + node.port(), "--region=us-east-1",
              "--config=" + Files.writeString(folder.resolve("none.cfg"), "[default]\n"));
      Path file = Files.write(folder.resolve("file"), new byte[100_000]);
      tell(base, "put", file.toString(), "s3://cmd/a");
      assertThat(tell(base, "ls", "s3://cmd/").output()).contains("s3://cmd/a", "100000");
      tell(base, "get", "s3://cmd/a", folder.resolve("copy").toString());
      assertThat(folder.resolve("copy")).hasSameBinaryContentAs(file);
      tell(base, "multipart", "s3://cmd");
      tell(base, "del", "s3://cmd/a");
      List<String> gone = new ArrayList<>(base);
      gone.addAll(List.of("rb", "s3://cmd"));
      assertThat(run(Map.of(), gone.toArray(String[]::new)).output()).contains("no bucket can be removed");
    }
  }

  private Run tell(List<String> base, String... more) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(base);
    command.addAll(List.of(more));
    Run run = run(Map.of(), command.toArray(String[]::new));
    assertThat(run.code()).as(run.output()).isZero();
    return run;
  }

  @Test
  @Tag("proof")
  void awsCli_tellsItsStory() throws IOException, InterruptedException {
    assumeTrue(isThere("aws", "--version"), "aws is not installed");
    try (TestNode node = TestNode.start(folder, "")) {
      Map<String, String> variables =
          Map.of("AWS_ACCESS_KEY_ID", TestNode.KEY, "AWS_SECRET_ACCESS_KEY", TestNode.SECRET,
              "AWS_DEFAULT_REGION", "us-east-1");
      Path file = Files.write(folder.resolve("file"), new byte[20_000_000]);
      List<String> base = List.of("aws", "--endpoint-url", "http://127.0.0.1:" + node.port(), "s3");
      for (List<String> each : List.of(List.of("cp", file.toString(), "s3://cli/a"), List.of("ls", "s3://cli/"),
          List.of("cp", "s3://cli/a", folder.resolve("copy").toString()), List.of("rm", "s3://cli/a"))) {
        List<String> command = new ArrayList<>(base);
        command.addAll(each);
        Run run = run(variables, command.toArray(String[]::new));
        assertThat(run.code()).as(run.output()).isZero();
      }
      assertThat(folder.resolve("copy")).hasSameBinaryContentAs(file);
    }
  }
}
