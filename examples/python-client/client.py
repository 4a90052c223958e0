"""A small client of the protocol, with nothing but Python's standard library.

Copy what you need: every call is a few lines of HTTP.
"""

import base64
import json
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

TOKEN_PATH = "/realms/loculus/protocol/openid-connect/token"
TIMEOUT_SECONDS = 60


class Refused(Exception):
    """The server answered with an error; `problem` is its problem document, if there was one."""

    def __init__(self, status, problem):
        super().__init__(f"{status}: {problem.get('detail') or problem}")
        self.status = status
        self.problem = problem


class Answer:
    """An answer: its status, its headers (case doesn't matter) and its body in bytes."""

    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    def json(self):
        return json.loads(self.body)

    def lines(self):
        """The documents of an NDJSON body. Only LF ends a line: splitlines() would split texts at other characters."""
        return [json.loads(line) for line in self.body.decode("utf-8").split("\n") if line]


def send(method, url, *, body=None, headers=None):
    """Sends a request. 304 is an answer; what is 400 and above raises Refused."""
    request = urllib.request.Request(url, data=body, headers=headers or {}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
            return Answer(response.status, response.headers, response.read())
    except urllib.error.HTTPError as error:
        content = error.read()
        if error.code == 304:
            return Answer(304, error.headers, b"")
        try:
            problem = json.loads(content)
        except ValueError:
            problem = {"detail": error.headers.get("WWW-Authenticate", "no detail")}
        raise Refused(error.code, problem) from None


class User:
    """Somebody who logs in with a password and calls the server."""

    def __init__(self, server, name, password, keycloak=None):
        self.server = server.rstrip("/")
        self.token_url = (keycloak or server).rstrip("/") + TOKEN_PATH
        self.name = name
        self.password = password
        self.token = None
        self.expires = 0.0

    def access_token(self):
        """The token, a new one if less than five minutes are left of it."""
        if time.time() > self.expires - 300:
            form = {"client_id": "backend-client", "grant_type": "password", "username": self.name, "password": self.password}
            answer = send("POST", self.token_url, body=urllib.parse.urlencode(form).encode(),
                          headers={"Content-Type": "application/x-www-form-urlencoded"})
            self.token = answer.json()["access_token"]
            claims = self.token.split(".")[1]
            self.expires = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))["exp"]
        return self.token

    def call(self, method, path, *, query=None, body=None, content_type=None, headers=None):
        url = self.server + path
        if query:
            url += "?" + urllib.parse.urlencode(query, doseq=True)
        headers = dict(headers or {}, Authorization="Bearer " + self.access_token())
        if content_type:
            headers["Content-Type"] = content_type
        return send(method, url, body=body, headers=headers)

    def post_json(self, path, document):
        return self.call("POST", path, body=json.dumps(document).encode(), content_type="application/json")

    def upload(self, path, fields, files):
        """Sends a multipart form. `files` maps the name of a part to the name and the text of its file."""
        boundary = uuid.uuid4().hex
        parts = []
        for name, value in fields.items():
            parts.append(f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n')
        for name, (filename, text) in files.items():
            parts.append(f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{filename}"\r\n'
                         f"Content-Type: text/plain\r\n\r\n{text}\r\n")
        body = "".join(parts) + f"--{boundary}--\r\n"
        return self.call("POST", path, body=body.encode("utf-8"), content_type="multipart/form-data; boundary=" + boundary)


def released(server, organism, etag=None):
    """Downloads released data: the records and the tag; None for the records if nothing has changed since the tag."""
    answer = send("GET", f"{server.rstrip('/')}/{organism}/get-released-data", headers={"If-None-Match": etag} if etag else {})
    if answer.status == 304:
        return None, etag
    records = answer.lines()
    if len(records) != int(answer.headers["x-total-records"]):
        raise IOError(f"{len(records)} records came, {answer.headers['x-total-records']} were announced: download it again")
    return records, answer.headers["ETag"]
